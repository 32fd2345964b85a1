import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const run = () => spawnSync(process.execPath, scripts.test.split(' ').slice(1), { encoding: 'utf8' })
const ledger = readFileSync('ledger.mjs', 'utf8')
assert.ok(ledger.includes('entries.push(entry)'), 'ledger.mjs was to be left as it is')
for (let i = 1; i <= 3; i++) {
  const { status, stdout, stderr } = run()
  assert.equal(status, 0, `run ${i}: ${stdout}${stderr}`)
}
// A test that cannot fail proves nothing: it has to notice a ledger that loses entries, and one that changes them.
for (const broken of [
  ledger.replace('entries.push(entry)', ''),
  ledger.replace('entries.push(entry)', 'entries.push({ ...entry, euros: 11 })'),
]) {
  writeFileSync('ledger.mjs', broken)
  rmSync('scratch', { recursive: true, force: true })
  assert.notEqual(run().status, 0, 'the test does not notice a broken ledger any more')
}
writeFileSync('ledger.mjs', ledger)
