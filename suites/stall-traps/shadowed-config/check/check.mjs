import assert from 'node:assert/strict'

const { settings } = await import('./settings.mjs')
assert.deepEqual({ ...settings }, { timeoutSeconds: 30, retries: 3, region: 'eu-north' })
