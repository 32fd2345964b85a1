import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import { isStep, type RecordedSession, ReplayError, stepsOf } from '../../tools/bench/replay/recordedSession.ts'
import { assert, describe } from '../support/suite.ts'
import { jsonl, turnsOf } from './shortTurns.ts'

const start = Date.UTC(2026, 3, 15, 10)
const time = (seconds: number): string => new Date(start + 1_000 * seconds).toISOString()
const timesOf = ({ turns }: RecordedSession): (number | undefined)[] => turns.filter(isStep).map(({ at }) => at)

const claude = (seconds: number, type: string, message: object, more: object = {}) => ({
  type,
  sessionId: 's',
  timestamp: time(seconds),
  message,
  ...more,
})
const asked = (seconds: number, content: unknown, more?: object) => claude(seconds, 'user', { content }, more)
const usage = { input_tokens: 10, cache_creation_input_tokens: 90, cache_read_input_tokens: 60_000 }
const calls = claude(4, 'assistant', { id: 'm1', content: [{ type: 'tool_use', id: 'a', name: 'Read' }], usage })
const result = asked(30, [{ type: 'tool_result', tool_use_id: 'a', content: 'A' }])
const says = (seconds: number, words: string) =>
  claude(seconds, 'assistant', { id: `m${seconds}`, content: [{ type: 'text', text: words }] })

describe('facts that a recording tells', (it) => {
  it('are when each request was sent: at a prompt, or with the last result', async () => {
    const session = await readText(
      jsonl(asked(1, 'fix it'), calls, result, says(50, 'done'), asked(1_000, 'more'), says(1_009, 'yes')),
      'claude.jsonl',
    )
    assert.equal(timesOf(session), [0, 29_000, 999_000])
  })

  it('are no times where none are recorded, and none that run backwards', async () => {
    const without = await readText(
      JSON.stringify([
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'hi' },
      ]),
      'chat.json',
    )
    assert.equal(timesOf(without), [undefined])
    const back = await readText(jsonl(asked(10, 'fix it'), says(11, 'no'), asked(5, 'do'), says(12, 'ok')), 'c.jsonl')
    assert.equal(timesOf(back), [0, 1_000])
  })

  it('are times of pi, Codex, OpenCode and the Copilot CLI too', async () => {
    const message = (seconds: number, role: string, text: string) => ({
      type: 'message',
      timestamp: time(seconds),
      message: { role, content: [{ type: 'text', text }], stopReason: 'stop' },
    })
    const pi = [{ type: 'session', id: 's', cwd: '/p', timestamp: time(9_000) }, ...talk(message)]
    const item = (seconds: number, role: string, text: string) => ({
      type: 'response_item',
      timestamp: time(seconds),
      payload: { type: 'message', role, content: [{ type: 'text', text }] },
    })
    const event = (seconds: number, role: string, content: string) => ({
      type: `${role}.message`,
      timestamp: time(seconds),
      data: { content },
    })
    const part = (seconds: number, role: string, text: string) => ({
      info: { role, time: { created: start + 1_000 * seconds } },
      parts: [{ type: 'text', text }],
    })
    const openCode = JSON.stringify({ info: { id: 's' }, messages: talk(part) })
    for (const text of [jsonl(...pi), jsonl(...talk(item)), jsonl(...talk(event)), openCode])
      assert.equal(timesOf(await readText(text, 'file')), [0, 600_000], text.slice(0, 60))
  })

  it('are lines of Claude Code that are not JSON: left out and counted', async () => {
    const lines = [asked(1, 'fix it'), calls, result, says(50, 'done')].map((line) => JSON.stringify(line))
    const session = await readText([lines[0], '{"torn', ...lines.slice(1, 3), '\u0000', lines[3]].join('\n'), 'c.jsonl')
    assert.equal(turnsOf(session), ['user: fix it', 'a:Read({}) = A', 'done'])
    assert.ok(session.notes.some((note) => note.startsWith('lines that are not JSON were left out (2): line 2 ')))
  })

  it('refuse a bad line in recordings whose lines belong together', async () => {
    const lines = [{ type: 'session', id: 's', cwd: '/p' }, { type: 'message' }].map((line) => JSON.stringify(line))
    const refused = await readText(`${lines[0]}\nnonsense\n${lines[1]}`, 'file').catch((error: unknown) => error)
    assert.ok(refused instanceof ReplayError && refused.message.startsWith('file, line 2 is not JSON'))
  })

  it('are the tokens of the frame, but not of the history of a resumed session', async () => {
    const whole = await readText(jsonl(asked(1, 'fix it'), calls, result, says(50, 'done')), 'c.jsonl')
    assert.is(whole.firstInput, 60_100)
    assert.ok(whole.system.length / 4 > 59_000)
    for (const more of [{ uuid: 'u2', parentUuid: 'u1' }, { isCompactSummary: true }]) {
      const after = more.isCompactSummary === true ? [asked(2, 'go on')] : []
      const resumed = await readText(
        jsonl(asked(1, 'fix it', more), ...after, calls, result, says(50, 'done')),
        'c.jsonl',
      )
      assert.is(resumed.firstInput, 42_000)
      assert.ok(resumed.system.length / 4 < 42_000)
      assert.ok(resumed.notes.some((note) => note.startsWith('is resumed')))
    }
    const going = await readText(
      jsonl(asked(1, 'fix it', { uuid: 'u1', parentUuid: null }), calls, result, says(50, 'done')),
      'c.jsonl',
    )
    assert.is(going.firstInput, 60_100)
  })

  it('are counted in the tokens of the provider, if it is said how many there are in four characters', async () => {
    const text = jsonl(asked(1, 'fix it'), calls, result, says(50, 'done'))
    const [one, more] = [await readText(text, 'c.jsonl'), await readText(text, 'c.jsonl', 1.5)]
    assert.equal([one.unit, more.unit], [1, 1.5])
    assert.ok(Math.abs(one.system.length / more.system.length - 1.5) < 0.01)
    assert.is(stepsOf(more).length, 2)
  })
})

type Line = (seconds: number, role: string, text: string) => object

function talk(line: Line): object[] {
  return [
    line(0, 'user', 'hello'),
    line(3, 'assistant', 'hi'),
    line(600, 'user', 'and now'),
    line(700, 'assistant', 'done'),
  ]
}
