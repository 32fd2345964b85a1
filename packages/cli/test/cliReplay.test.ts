import { eventOf, type AgentEvent } from '../../../src/protocol/events.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { replayPause, replaySteps, textPieces } from '../src/commands/replay.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { cliCommand, projectFolder, startChild } from './cliChild.ts'
import { logFile, recordsIn, recordSession } from './cliSessions.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const timeoutMs = 30_000
const hour = 3_600_000

/** Records a session of two runs whose replies took an hour each; the second began a day after the first. */
async function recordSlow(dir: string): Promise<void> {
  let time = 1_700_000_000_000
  const slowly = (reply: object) => () => {
    time += hour
    return reply
  }
  await recordSession(dir, {
    id: 'slow',
    clock: { now: () => time, after: (ms, callback) => systemClock.after(ms, callback) },
    prompts: ['What is there?', 'And\nelse?'],
    replies: [
      slowly({ text: 'I look.', toolCalls: [{ name: 'look', input: { seen: 'a cat' } }] }),
      slowly({ text: 'There is a cat.' }),
      slowly({ text: 'No\u001B[2Jthing else.' }),
    ],
  })
}

const records = async (dir: string): Promise<LogRecord[]> => {
  await recordSlow(dir)
  return recordsIn(logFile(dir, 'slow'))
}

describe('escapement replay', (it) => {
  it('gives a pipe the recorded events, one a line and at once, up to a turn', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const recorded = (await records(cwd)).map((record) => eventOf(record, { agentId: 'slow', path: [] }))
    const [whole, part] = await Promise.all([
      runCli(context, ['replay', 'slow'], { cwd }),
      runCli(context, ['replay', 'slow', '--to', '1'], { cwd }),
    ])
    const eventsIn = (stdout: string) =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as AgentEvent)
    assert.equal([whole.code, part.code], [0, 0])
    assert.equal(eventsIn(whole.stdout), recorded)
    const turnEnd = recorded.findIndex(({ type }) => type === 'turn.end')
    assert.equal(eventsIn(part.stdout), recorded.slice(0, turnEnd + 1))
  })

  atTerminal(it, 'prints what people and the agent said and did, and moves no cursor', async (context) => {
    const cwd = projectFolder(context)
    await recordSlow(cwd)
    const { code, stdout } = await startAtTerminal(context, ['replay', 'slow', '--speed', '0'], { cwd }).ended
    assert.is(code, 0)
    const lines = [
      /^› What is there\?$/m,
      /^I look\.$/m,
      /^ {2}✓ look /m,
      /^There is a cat\.$/m,
      /^✓ done · 2 turns .* · \$0\.00 · 2 h 00 min$/m,
      /^› And\n {2}else\?$/m,
      /^Nothing else\.$/m,
      /^✓ done · 1 turn/m,
    ]
    let rest = plain(stdout)
    for (const line of lines) {
      const found = line.exec(rest)
      assert.ok(found, `${String(line)} is missing in order in:\n${stdout}`)
      rest = rest.slice(found.index + 1)
    }
    assert.not(stdout.includes('\u001B[2J'))
  })

  it('waits as long as it took where the speed is 1, and ends with 130 at Ctrl-C', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSlow(cwd)
    const child = startChild(context, cliCommand(['replay', 'slow', '--speed', '1']), { cwd })
    await child.until('"turn.captured"')
    child.signal('SIGINT')
    const { code, stdout } = await child.ended
    assert.is(code, 130)
    assert.not.match(stdout, /reply\.end/)
  })

  it('refuses a speed that is none and a turn beyond the end', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSlow(cwd)
    const [fast, beyond] = await Promise.all([
      runCli(context, ['replay', 'slow', '--speed', 'fast'], { cwd }),
      runCli(context, ['replay', 'slow', '--to', '4'], { cwd }),
    ])
    assert.equal([fast.code, beyond.code], [2, 2])
    assert.match(fast.stderr, /--speed must be a number from 0 on.*"fast"/)
    assert.match(beyond.stderr, /--to 4 is beyond the end of session "slow": its last turn is 3/)
  })
})

describe('the pauses of a replay', (it) => {
  it('are those of the log, told apart by whether the agent was at work', async (context) => {
    const steps = [...replaySteps(await records(projectFolder(context)))]
    const replies = steps.filter(({ event }) => event.type === 'reply.end')
    assert.equal(
      replies.map(({ ms, isRest }) => [ms, isRest]),
      [
        [hour, false],
        [hour, false],
        [hour, false],
      ],
    )
    const starts = steps.filter(({ event }) => event.type === 'run.start')
    assert.equal(
      starts.map(({ isRest }) => isRest),
      [true, true],
    )
  })

  it('are short by default, divided by a speed, and never long at rest', () => {
    const [work, rest] = [
      { ms: hour, isRest: false },
      { ms: hour, isRest: true },
    ]
    assert.equal([replayPause(work, undefined), replayPause(work, 1), replayPause(work, 10)], [400, hour, hour / 10])
    assert.equal([replayPause(rest, undefined), replayPause(rest, 1), replayPause(rest, 10)], [400, 1000, 100])
    assert.equal([replayPause(work, 0), replayPause({ ms: 5, isRest: false }, undefined)], [0, 5])
  })

  it('go between words, and no letter of a text is lost', () => {
    for (const text of ['', ' ', 'one', '  two words\n', `${'many words '.repeat(100)}\n\nand\tmore`]) {
      const pieces = textPieces(text)
      assert.is(pieces.join(''), text)
      assert.ok(pieces.length <= 40)
    }
    assert.equal(textPieces('a few words'), ['a ', 'few ', 'words'])
  })
})
