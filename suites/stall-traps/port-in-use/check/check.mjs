import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const others = { 8080: 'metrics', 8081: 'mail', 9000: 'search' }
const { name, port } = read('settings.json')
assert.deepEqual(read('ports.json'), others, 'the ports of other services were touched')
assert.equal(name, 'orders')
assert.ok(Number.isInteger(port) && port >= 1024 && port <= 65535 && !Object.hasOwn(others, port), `port ${port}`)
assert.deepEqual(read('out/ready.json'), { name, port })
