import { enter } from './ledger.mjs'

const entries = enter('scratch/ledger.json', { euros: 12 })
if (entries.length !== 1) {
  console.error(`a new ledger must have 1 entry, and has ${entries.length}`)
  process.exit(1)
}
if (entries[0].euros !== 12) {
  console.error(`the entry must be of 12 euros, and is of ${entries[0].euros}`)
  process.exit(1)
}
console.log('1 test passed')
