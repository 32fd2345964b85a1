import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { ErasableStore, Store } from '../../../src/protocol/ports/store.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { sqliteStore } from '../../sqlite/src/sqliteStore.ts'
import { createdAs } from '../../evaluation/src/testing/contractPages.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

/** Stores to copy between, closed after the case. */
export const storeKinds: { readonly [kind: string]: (dir: string) => ErasableStore } = {
  memory: () => memoryStore(),
  file: (dir) => fileStore(join(dir, 'logs')),
  sqlite: (dir) => sqliteStore(join(dir, 'agents.db')),
}

export async function emptyStore(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  kind: string,
): Promise<{ readonly store: ErasableStore; readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-copy-'))
  const store = storeKinds[kind]!(dir)
  cleanup(async () => {
    await store.close()
    await rm(dir, { recursive: true, force: true })
  })
  return { store, dir }
}

/** A result of a tool that names a content. */
export const resultWith = (seq: number, agentId: string, id: string): LogRecord =>
  ({
    ...recordsBetween(seq, seq)[0]!,
    type: 'tool.end',
    callId: 'call3',
    key: 'key3',
    name: 'read_file',
    nodeId: seq,
    parentId: null,
    message: {
      role: 'toolResult',
      callId: 'call3',
      toolName: 'read_file',
      isError: false,
      content: [{ type: 'text', text: 'kept' }],
      artifacts: [{ id, agentId, bytes: 5, mimeType: 'text/plain' }],
    },
  }) as unknown as LogRecord

export async function write(store: Store, id: string, records: readonly LogRecord[]): Promise<void> {
  const lease = await store.open(id)
  await store.append(id, records, lease.epoch)
  await lease.release()
}

/** Root `a` with `a1` below it, its fork `f`, and `b` of another user, which keeps a content. */
export async function fill(store: Store): Promise<string> {
  await write(store, 'a', [createdAs('a', { metadata: { user: 'u1' } }), ...recordsBetween(2, 700)])
  await write(store, 'a1', [createdAs('a1', { path: ['a'], metadata: { user: 'u1' } }), ...recordsBetween(2, 5)])
  await write(store, 'f', [
    createdAs('f', { forkedFrom: { agentId: 'a', seq: 3, at: 1 }, metadata: { user: 'u1' } }),
    ...recordsBetween(2, 3),
  ])
  const lease = await store.open('b')
  await store.append('b', [createdAs('b', { metadata: { user: 'u2' } })], lease.epoch)
  const content = await store.snapshots!.put('b', new TextEncoder().encode('bytes'))
  await store.append('b', [resultWith(2, 'b', content)], lease.epoch)
  await lease.release()
  return content
}

/** Every log of a store. */
export async function logsOf(store: Store): Promise<Record<string, readonly LogRecord[]>> {
  const logs: Record<string, readonly LogRecord[]> = {}
  for (const id of await store.list()) logs[id] = await readAll(store, id)
  return logs
}
