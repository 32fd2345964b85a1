import { createHash } from 'node:crypto'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { maxMemoryChars, type MemoryRecord, type MemoryScope } from '../../../../src/protocol/ports/memory.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'

/** A memory to be kept. */
export interface Draft {
  readonly scope: MemoryScope
  readonly kind: MemoryRecord['kind']
  readonly text: string
  readonly by: MemoryRecord['source']['by']
  readonly tainted: boolean
  /** True if a person agreed to the memory. */
  readonly approved?: boolean
  /** Subject of the memory, if the same fact may be worded differently. Default: its text. */
  readonly about?: string
}

/** Returns a text as a memory stores it, with secrets blanked. */
export const cleanText = ({ redactor }: Pick<AgentPorts, 'redactor'>, text: string): string => {
  const sound = (redactor?.text(text) ?? text).replaceAll('\0', '').replace(/\r\n?/g, '\n').toWellFormed().trim()
  return cutEnd(sound, maxMemoryChars - 10).trim()
}

/** Returns the same string for two texts that differ only in case and white space. */
const printOf = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()

/**
 * Returns the record of a memory to be kept. Its id is derived from its content and its scope, so
 * that a memory kept twice, by a second run or after a crash, exists once.
 */
export function recordOf(
  ports: Pick<AgentPorts, 'agentId' | 'clock' | 'redactor'>,
  { scope, kind, text: said, by, tainted, approved = false, about }: Draft,
  runId: string | undefined,
): MemoryRecord {
  const text = cleanText(ports, said)
  const hash = createHash('sha256').update(JSON.stringify([scope, kind, about ?? printOf(text)]))
  const at = Math.max(0, Math.round(ports.clock.now()))
  return {
    id: `m${hash.digest('hex').slice(0, 16)}`,
    scope,
    kind,
    text,
    source: { by, agentId: ports.agentId, ...(runId === undefined ? {} : { runId }) },
    tainted,
    // The runs of one conversation remember one another.
    confirmations: tainted ? [] : [ports.agentId],
    approved,
    createdAt: at,
    updatedAt: at,
  }
}
