import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { visible } from '../../../charts/src/text/visible.ts'

/** Maximum length of a call's title, in UTF-16 units. */
const maxTitle = 100

/** A call as known before it has run. */
export interface KnownCall {
  readonly toolCallId: string
  readonly name: string
  readonly input: unknown
  /** The sub-agent that made the call. */
  readonly agentId?: string
}

/** Returns a short title of a call: its tool and the first text of its input, such as `read_file src/a.ts`. */
export function titleOf({ name, input, agentId }: Omit<KnownCall, 'toolCallId'>): string {
  const values: unknown[] = typeof input === 'object' && input !== null ? Object.values(input) : [input]
  const first = values.find((value) => typeof value === 'string')
  const parts = [agentId === undefined ? undefined : `${agentId}:`, name, first].filter((part) => part !== undefined)
  return cutEnd(
    visible(
      cutEnd(parts.join(' '), maxTitle * 4)
        .replace(/\s+/g, ' ')
        .trim(),
    ),
    maxTitle,
  )
}
