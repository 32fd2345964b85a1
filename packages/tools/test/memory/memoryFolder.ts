import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MemoryRecord } from '../../../../src/protocol/ports/memory.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** An empty folder that is removed after the case. */
export async function memoryFolder({ cleanup }: CaseContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-memory-'))
  cleanup(() => rm(dir, { recursive: true }))
  return dir
}

/** A record of user 42. */
export const fact = (id: string, text: string, more: Partial<MemoryRecord> = {}): MemoryRecord => ({
  id,
  scope: 'user:42',
  kind: 'fact',
  text,
  source: { by: 'model', agentId: 'a1', runId: 'a1/r0' },
  tainted: false,
  confirmations: ['a1/r0'],
  approved: false,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...more,
})
