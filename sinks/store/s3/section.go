package s3

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Default returns the options of a configuration that says nothing.
func Default() Options {
	return Options{Options: bucket.Default(), Checksum: DefaultChecksum}
}

// Section binds the options that a user gives to the section of a configuration.
func (o *Options) Section() config.Section {
	return config.Section{Fields: append([]config.Field{
		{Name: "endpoint", Doc: "URL of a server other than Amazon's.", Value: config.Text(&o.Endpoint, "https://minio.example.com:9000")},
		{Name: "region", Doc: "Region of the bucket. Not set: that of the environment or profile.", Value: config.Text(&o.Region, "eu-central-1")},
		{Name: "addressing", Doc: "Where requests name the bucket. Not set: path with endpoint, else host.", Value: config.Names(&o.Addressing, AddressingPath, AddressingHost)},
		{Name: "profile", Doc: "Section of AWS's configuration files.", Value: config.Text(&o.Profile, "urlmill")},
		{Name: "encryption", Doc: "Encryption at rest. Not set: what the bucket says.", Value: config.Names(&o.Encryption, EncryptionS3, EncryptionKMS)},
		{Name: "kms_key", Doc: "Key for encryption: kms. Not set: the account's key for S3.", Value: config.Text(&o.KMSKey, "alias/urlmill")},
		{Name: "customer_key", Doc: "Key of encryption that each request brings and the server does not keep (SSE-C): 32 bytes in base64.", Value: config.SecretText(&o.CustomerKey)},
		{Name: "storage_class", Doc: "Class of data files. Not set: the server's own.", Value: config.Names(&o.StorageClass, "STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING",
			"REDUCED_REDUNDANCY", "GLACIER_IR")},
		{Name: "checksum", Doc: "What the server verifies parts and objects by; none is for servers that cannot.", Value: config.Names(&o.Checksum, ChecksumCRC32C, ChecksumNone)},
	}, o.Fields(minPartSize)...)}
}

// CheckPlace returns what is wrong with a location.
func CheckPlace(location string) error {
	_, _, err := ParseLocation(location)
	return err
}
