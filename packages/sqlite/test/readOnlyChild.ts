/** `node readOnlyChild.ts <file>`: what somebody can do with a database who may only read it, as one line of JSON. */
import { chmodSync, chownSync } from 'node:fs'
import { dirname } from 'node:path'
import { sqliteStore } from '../src/sqliteStore.ts'
import { readAll } from '../../evaluation/src/testing/contractDemands.ts'

const [file = ''] = process.argv.slice(2)
const nobody = 65_534
const store = sqliteStore(file)
// What root may do no file forbids.
if (process.getuid?.() === 0) {
  for (const path of [dirname(file), file]) chownSync(path, nobody, nobody)
  process.setgid!(nobody)
  process.setuid!(nobody)
}
chmodSync(file, 0o444)
const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => (error as { readonly code?: string }).code)
const answers = {
  read: await codeOf(readAll(store, 'a').then((records) => records.length)),
  page: await codeOf(store.page!().then(({ logs }) => logs.length)),
  search: await codeOf(store.search!({ text: 'x' })),
  open: await codeOf(store.open('a')),
  delete: await codeOf(store.delete('a')),
}
await store.close()
process.stdout.write(`${JSON.stringify(answers)}\n`)
