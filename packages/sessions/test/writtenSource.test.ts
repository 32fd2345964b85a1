import { parseAst } from 'rolldown/parseAst'
import { failingTest } from '../src/failingTest.ts'
import { savedTask, suiteSource } from '../src/savedTask.ts'
import { testLiteral } from '../src/testLiteral.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const nasty = [
  'a\nglobalThis.owned = 1 //',
  'a\r\nowned() //',
  '*/ owned() /*',
  '`${owned()}`',
  '\u2028owned() //',
  '\u2029owned() //',
  '\u0085owned()',
  '"; owned(); "',
  "'; owned(); '",
  '\\',
  '\u202Eowned\u2066',
  '__proto__',
  'constructor',
  '</script>',
]

/** A log in which whatever a log from elsewhere can say is this text. */
function logOf(text: string): readonly LogRecord[] {
  const content = [{ type: 'text', text }]
  const records = [
    { type: 'agent.created', definition: text },
    { type: 'run.start', runId: 'r', cause: 'prompt' },
    { type: 'message.added', message: { role: 'user', content } },
    {
      type: 'reply.end',
      message: {
        role: 'assistant',
        content: [{ type: 'toolCall', callId: text, name: text, input: { [text]: text } }],
      },
    },
    { type: 'tool.end', callId: text, name: text, message: { content, isError: false } },
    { type: 'run.end', runId: 'r', stopReason: 'error', error: { code: text, message: text } },
  ]
  return records.map((record, seq) => ({ time: 0, seq, ...record })) as unknown as LogRecord[]
}

const testOf = (text: string): string => {
  const made = failingTest(logOf(text), { agentId: text, expect: text })
  return made.ok ? made.source : made.why
}
const suiteOf = (text: string): string => {
  const made = savedTask(logOf(text), { agentId: text, expect: text })
  return made.ok ? suiteSource(made) : made.why
}

/** The kinds of the statements of a source, which must be TypeScript. */
const statements = (source: string): readonly string[] => parseAst(source, { lang: 'ts' }).body.map(({ type }) => type)

describe('source that is written of a log', (it) => {
  for (const [title, write] of [
    ['a test', testOf],
    ['a suite', suiteOf],
  ] as const)
    it(`${title} is the same program whatever texts the log has`, () => {
      for (const text of nasty) {
        const source = write(text)
        // A model may have called what no tool can be called.
        const alike = write(/^[\w-]+$/.test(text) ? 'plain' : 'not plain')
        assert.equal(statements(source), statements(alike), source)
        assert.not.match(source, /[\r\u0085\u2028-\u202E\u2066-\u2069]/)
        const comments = source.split('\n').filter((line) => line.startsWith('//'))
        assert.not.ok(comments.some((line) => line.includes(`failed with ${text}`)))
      }
    })

  it('says of a failure what is known of it: a code that is ours, and none of a log', () => {
    const records = (code: string): LogRecord[] =>
      logOf('x').map(
        (record) => (record.type === 'run.end' ? { ...record, error: { code, message: '' } } : record) as LogRecord,
      )
    const made = (code: string): string => {
      const test = failingTest(records(code), { agentId: 'a' })
      return test.ok ? test.source : ''
    }
    assert.match(made('INTERNAL'), 'everything that happened: it failed with INTERNAL.')
    assert.match(made('toString'), 'everything that happened: it failed.')
  })

  it('has texts that nobody reads as others', () => {
    assert.is(testLiteral('\u202Ea\u0085b\u2028'), String.raw`"\u202ea\u0085b\u2028"`)
  })
})
