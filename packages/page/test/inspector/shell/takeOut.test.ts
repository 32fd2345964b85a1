import { Conversation } from '../../../../../src/conversation/tree/conversation.ts'
import { logLines, markdownOf, testOf } from '../../../src/inspector/model/shell/takeOut.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { conversationMarkdown } from '../../../../sessions/src/conversationMarkdown.ts'
import { exportSession } from '../../../../sessions/src/exportSession.ts'
import { forkSession } from '../../../../sessions/src/forkSession.ts'
import { importSession } from '../../../../sessions/src/importSession.ts'
import { memoryStore } from '../../../../stores/src/memory/memoryStore.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { born, fill, logOf } from '../../../../sessions/test/sessionLogs.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const said = (): LogRecord[] => {
  const log = new BrakeLog()
  log.user('go')
  log.step([{ name: 'look', output: 'seen' }])
  log.reply('done')
  return born('a', log.records)
}

/** As the page has a record: it says whose it is. */
const heard = (records: readonly LogRecord[], agentId: string): LogRecord[] =>
  records.map((record) => ({ ...record, agentId, path: [] }) as LogRecord)

describe('what a person takes out of the page', (it) => {
  it('is the log as a store exports it, of a fork with the past that it shares', async () => {
    const store = memoryStore()
    await fill(store, { a: said() })
    await forkSession(store, 'a', 'n3', { id: 'b' })
    const [source, fork] = [await logOf(store, 'a'), await logOf(store, 'b')]
    const [created] = fork
    const { seq } = created?.type === 'agent.created' ? created.forkedFrom! : { seq: 0 }
    const lines = logLines({ agentId: 'b', past: [heard(source.slice(0, seq), 'a')], records: heard(fork, 'b') })
    const exported: string[] = []
    for await (const line of exportSession(store, 'b')) exported.push(line)
    assert.equal(
      lines.map((line) => JSON.parse(line) as unknown),
      exported.map((line) => JSON.parse(line) as unknown),
    )
    const other = memoryStore()
    assert.equal((await importSession(other, [...lines])).agentIds, ['a', 'b'])
  })

  it('names what results keep beside the log as missing, once', () => {
    const artifact = { agentId: 'a', id: 'f'.repeat(64), mimeType: 'text/plain', bytes: 3 }
    const records = said().map((record): LogRecord => {
      if (record.type !== 'tool.end') return record
      return { ...record, message: { ...record.message, artifacts: [artifact, artifact] } }
    })
    const lines = logLines({ agentId: 'a', past: [], records })
    assert.is(lines.length, records.length + 2)
    assert.equal(JSON.parse(lines.at(-1)!), { agentId: 'a', artifact: { id: artifact.id, missing: true } })
  })

  it('is the conversation as Markdown, whose fences hold what tools gave', () => {
    const conversation = new Conversation()
    for (const record of said()) conversation.apply(record)
    const text = markdownOf({ conversation, agentId: 'a', title: 'A\n title' })
    assert.is(
      text,
      '# A title\n\n## User\n\ngo\n\n## Assistant\n\nCalls **look**:\n\n```json\n{}\n```\n\n**look** gave:\n\n```\nseen\n```\n\n## Assistant\n\ndone\n',
    )
    const fence = '```js\nx()\n```'
    const given = conversationMarkdown('t', [
      { role: 'toolResult', callId: 'c', toolName: 'read', isError: true, content: [{ type: 'text', text: fence }] },
    ])
    assert.is(given, `# t\n\n**read** failed:\n\n\`\`\`\`\n${fence}\n\`\`\`\`\n`)
  })

  it('is a test, of a fork with the past that it shares', () => {
    const run = { type: 'run.start', runId: 'r', cause: 'prompt', limits: {}, requestId: 'q' }
    const records = said()
    records.splice(1, 0, run as unknown as LogRecord)
    const made = testOf({ agentId: 'a', past: [records], records: [] }, ' gold ')
    assert.match(made.ok ? made.source : '', 'result.text.includes("gold")')
    assert.match(made.ok ? made.source : '', '{ text: "done" }')
  })
})
