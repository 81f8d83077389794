"""The places where batches lie: a folder, an object store, a database. Each is one small adapter of ``base.SyncStore``."""
