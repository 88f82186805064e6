// Package azure opens places in containers of Azure Blob Storage as [bucket.Store].
//
// Objects are created with If-None-Match. The parts of a data file are blocks of the blob that it will be, and the file appears when
// their list is put with the same condition. The service neither lists such uploads well nor aborts them, so a mark below _tmp says
// that there is one.
//
// docs/design/commit-chain.md has the reasons, and docs/azure.md what an account has to allow.
package azure
