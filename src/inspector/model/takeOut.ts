import type { LogRecord } from '../../protocol/records.ts'
import { conversationMarkdown } from '../../sessions/conversationMarkdown.ts'
import { artifactsOf, headerLine, lineOf, type ExportedArtifact, type ExportLine } from '../../sessions/exportLines.ts'
import { failingTest, type FailingTest } from '../../sessions/failingTest.ts'
import { savedTask, type Saved } from '../../sessions/savedTask.ts'
import type { AgentViewState } from './agentView.ts'

type Taken = Pick<AgentViewState, 'agentId' | 'past' | 'records'>

/**
 * What `escapement export` writes of an agent, line by line, of what the page was given: without what the server blanks. What results keep
 * beside the log is named as missing. Pure.
 */
export function logLines({ agentId, past, records }: Taken): readonly string[] {
  const parts = [...past, records].map((part) => ({ id: ownerOf(part) ?? agentId, part }))
  const missing = new Map<string, ExportedArtifact>()
  const lines = [
    headerLine(
      agentId,
      parts.map(({ id }) => id),
    ),
  ]
  for (const { id, part } of parts)
    for (const record of part) {
      for (const artifact of artifactsOf(record))
        missing.set(`${artifact.agentId}/${artifact.id}`, {
          agentId: artifact.agentId,
          artifact: { id: artifact.id, missing: true },
        })
      lines.push(lineOf({ agentId: id, record: recordAlone(record) } satisfies ExportLine))
    }
  return [...lines, ...[...missing.values()].map(lineOf)]
}

const ownerOf = ([first]: readonly LogRecord[]): string | undefined =>
  first?.type === 'agent.created' ? first.agentId : undefined

/** A record as the log has it: as an event it says whose it is too. */
function recordAlone(record: LogRecord): LogRecord {
  if (record.type === 'agent.created') return record
  const { agentId: _, path: __, ...own } = record as LogRecord & { agentId?: string; path?: unknown }
  return own as LogRecord
}

/** The trunk of an agent as Markdown. */
export const markdownOf = (
  { conversation, session, agentId }: Pick<AgentViewState, 'conversation' | 'session' | 'agentId'>,
  title = session.title ?? agentId,
): string =>
  conversationMarkdown(
    title,
    conversation.trunk().map(({ message }) => message),
  )

/** A test that plays what an agent recorded, or why there can be none; `expect`: what the answer should have had. */
export const testOf = ({ agentId, past, records }: Taken, expect: string): FailingTest =>
  failingTest([...past.flat(), ...records], { agentId, ...(expect.trim() === '' ? {} : { expect: expect.trim() }) })

/** A task of what an agent recorded, or why there can be none; `expect`: what the answer should have had. */
export const taskOf = ({ agentId, past, records }: Taken, expect: string): Saved =>
  savedTask([...past.flat(), ...records], { agentId, ...(expect.trim() === '' ? {} : { expect: expect.trim() }) })
