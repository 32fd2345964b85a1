import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { lineOf } from '../src/checksum.ts'
import { fileStore } from '../src/fileStore.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

export interface StoreFolder {
  readonly dir: string
  readonly file: (name: string) => string
  /** A store on the folder, closed after the case. */
  store(): Store
  write(name: string, content: string | Uint8Array): Promise<void>
}

/** A new temporary folder, removed after the case. */
export async function storeFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<StoreFolder> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-store-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const file = (name: string): string => join(dir, name)
  return {
    dir,
    file,
    store() {
      const store = fileStore(dir)
      cleanup(() => store.close())
      return store
    },
    write: (name, content) => writeFile(file(name), content),
  }
}

/** The lines of a log file. */
export const linesOf = (records: readonly LogRecord[]): string =>
  records.map((record) => `${lineOf(JSON.stringify(record))}\n`).join('')

/** A predicate for `assert.rejects`: an error of this code whose message holds these texts. */
export const failsWith =
  (code: string, ...texts: readonly (string | number)[]) =>
  (thrown: unknown): boolean =>
    thrown instanceof Error &&
    'code' in thrown &&
    thrown.code === code &&
    texts.every((text) => thrown.message.includes(String(text)))
