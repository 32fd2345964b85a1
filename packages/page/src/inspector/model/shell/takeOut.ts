import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { conversationMarkdown } from '../../../../../sessions/src/conversationMarkdown.ts'
import { headerLine, lineOf, NamedKept, type ExportLine } from '../../../../../sessions/src/exportLines.ts'
import { failingTest, type FailingTest } from '../../../../../sessions/src/failingTest.ts'
import { savedTask, type Saved } from '../../../../../sessions/src/savedTask.ts'
import type { AgentViewState } from '../agent/agentView.ts'

type Taken = Pick<AgentViewState, 'agentId' | 'past' | 'records'>

/**
 * Returns the lines that `escapement export` writes for an agent, made from the records that the page was given, without the parts that the server
 * blanks. Artifacts, which results keep beside the log, are named as missing. Pure.
 */
export function logLines({ agentId, past, records }: Taken): readonly string[] {
  const parts = [...past, records].map((part) => ({ id: ownerOf(part) ?? agentId, part }))
  const kept = new NamedKept()
  const lines = [
    headerLine(
      agentId,
      parts.map(({ id }) => id),
    ),
  ]
  for (const { id, part } of parts)
    for (const record of part) {
      kept.apply(record)
      lines.push(lineOf({ agentId: id, record: recordAlone(record) } satisfies ExportLine))
    }
  return [...lines, ...kept.missing().map(lineOf)]
}

const ownerOf = ([first]: readonly LogRecord[]): string | undefined =>
  first?.type === 'agent.created' ? first.agentId : undefined

/** Returns a record as it is in the log: an event also has the id and path of its agent. */
function recordAlone(record: LogRecord): LogRecord {
  if (record.type === 'agent.created') return record
  const { agentId: _, path: __, ...own } = record as LogRecord & { agentId?: string; path?: unknown }
  return own as LogRecord
}

/** Writes the trunk of an agent as Markdown, under its title. */
export const markdownOf = ({
  conversation,
  agentId,
  title = agentId,
}: Pick<AgentViewState, 'conversation' | 'agentId' | 'title'>): string =>
  conversationMarkdown(
    title,
    conversation.trunk().map(({ message }) => message),
  )

/** Returns a test that replays the recorded session, or the reason why there is none. `expect`: what the answer should have contained. */
export const testOf = ({ agentId, past, records }: Taken, expect: string): FailingTest =>
  failingTest([...past.flat(), ...records], { agentId, ...(expect.trim() === '' ? {} : { expect: expect.trim() }) })

/** Returns a task made from the recorded session, or the reason why there is none. `expect`: what the answer should have contained. */
export const taskOf = ({ agentId, past, records }: Taken, expect: string): Saved =>
  savedTask([...past.flat(), ...records], { agentId, ...(expect.trim() === '' ? {} : { expect: expect.trim() }) })
