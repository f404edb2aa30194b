module rsalab-peer-go

go 1.24

// Keys below 1024 bits are measured too; Go refuses them otherwise.
godebug rsa1024min=0
