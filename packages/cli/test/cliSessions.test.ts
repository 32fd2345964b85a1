import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import type { CapturedRequest } from '../../../src/conversation/request/captureRequest.ts'
import { textWidth } from '../../charts/src/textWidth.ts'
import type { Session, Turn } from '../../sessions/src/session.ts'
import type { SessionSummary } from '../../sessions/src/listSessions.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { projectFolder } from './cliChild.ts'
import { logFile, recordSession } from './cliSessions.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const timeoutMs = 30_000

const looked = (seen: string): ScriptedReply => ({
  thinking: 'I had better look.',
  text: 'I look.',
  toolCalls: [{ name: 'look', input: { seen } }],
})

/** Two turns and a run: the model looks and answers. */
const twoTurns = { prompts: ['What is there?'], replies: [looked('a cat'), 'There is a cat.'] }

/** Makes a log unreadable in its middle. */
function damage(file: string): void {
  const lines = readFileSync(file, 'utf8').split('\n')
  lines[2] = 'not a record'
  writeFileSync(file, lines.join('\n'))
}

const listed = (stdout: string): (SessionSummary & { lastText?: string })[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as SessionSummary)

describe('escapement sessions', (it) => {
  it('says of a folder without sessions that it has none, and how to make one', { timeoutMs }, async (context) => {
    const { code, stdout, stderr } = await runCli(context, ['sessions'])
    assert.equal([code, stdout], [0, ''])
    assert.match(stderr, /There is no session in .*\.escapement\. Make one: escapement run "<task>"/)
  })

  atTerminal(it, 'leaves out columns where a terminal is too narrow for all', async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'a-session-with-a-long-id', prompts: ['Hi'], replies: ['Hello'] })
    const heads = async (columns: number): Promise<string> => {
      const { stdout } = await startAtTerminal(context, ['sessions'], { cwd, columns }).ended
      const lines = plain(stdout).split('\n')
      for (const line of lines) assert.ok(textWidth(line) <= columns, line)
      return lines[0]!.replace(/ +/g, ' ')
    }
    assert.is(await heads(100), 'id definition state turns cost age')
    assert.is(await heads(60), 'id state turns cost age')
    assert.is(await heads(44), 'id state age')
  })

  it('has no words that a guard refused', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const guards = {
      input: [
        ({ text }: { text: string }) => (text.includes('1234') ? { refuse: 'no passwords' } : { ok: true as const }),
      ],
    }
    await recordSession(cwd, { id: 'a', prompts: ['It is 1234'], replies: ['unheard'], guards })
    const { stdout } = await runCli(context, ['sessions', '--dir', cwd])
    const [session] = listed(stdout)
    assert.equal(
      [session?.title, session?.lastText],
      [undefined, '[A message of the user was withheld by the application: no passwords.]'],
    )
  })

  it(
    'prints one session a line to a pipe, the newest first, the unreadable with its error',
    { timeoutMs },
    async (context) => {
      const cwd = projectFolder(context)
      const at = (time: number) => ({ now: () => time, after: () => () => {} })
      await recordSession(cwd, { id: 'older', ...twoTurns, clock: at(2_000) })
      await recordSession(cwd, { id: 'newer', prompts: ['Hello'], replies: ['Good day.'] })
      await recordSession(cwd, { id: 'broken', ...twoTurns, clock: at(1_000) })
      damage(logFile(cwd, 'broken'))
      const { code, stdout } = await runCli(context, ['sessions', '--dir', cwd])
      assert.is(code, 0)
      const [newer, older, broken] = listed(stdout)
      assert.equal([newer?.id, newer?.lastText, newer?.turns], ['newer', 'Good day.', 1])
      assert.equal([older?.id, older?.lastText, older?.turns], ['older', 'There is a cat.', 2])
      assert.equal([broken?.id, broken?.error?.code], ['broken', 'LOG_CORRUPT'])
      const direct = await runCli(context, ['sessions', '--logs', join(cwd, '.escapement')])
      assert.is(direct.stdout, stdout)
    },
  )

  atTerminal(it, 'draws a table that fits, with the last text of each, and moves no cursor', async (context) => {
    const cwd = projectFolder(context)
    const replies = [`\u001B[2J\u009B31m${'many words '.repeat(20)}`]
    await recordSession(cwd, { id: 'one', prompts: ['Hello'], replies })
    await recordSession(cwd, { id: 'broken', ...twoTurns })
    damage(logFile(cwd, 'broken'))
    const { code, stdout } = await startAtTerminal(context, ['sessions'], { cwd }).ended
    assert.is(code, 0)
    const lines = plain(stdout).split('\n')
    assert.match(lines[0] ?? '', /^id +definition +state +turns +cost +age$/)
    assert.match(plain(stdout), /one +tester +completed +1 +– +\d+ s\n {2}Hello · 31mmany words/)
    assert.match(plain(stdout), /broken +tester +unreadable .*\n {2}(What is there\? · )?Line 3 of/)
    assert.not(stdout.includes('\u009B') || stdout.includes('\u001B[2J'))
    assert.ok(lines.every((line) => textWidth(line) <= 80))
  })
})

describe('escapement sessions, of some kinds alone', (it) => {
  it('lists those that failed, those that wait for a person, or both', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'fine', prompts: ['Hello'], replies: ['Good day.'] })
    await recordSession(cwd, {
      id: 'failed',
      prompts: ['Repair\nit'],
      replies: [{ error: { kind: 'auth', message: 'the key is wrong' } }],
    })
    const ids = async (...args: string[]) => listed((await runCli(context, ['sessions', ...args], { cwd })).stdout)
    assert.equal(
      (await ids('--failed')).map(({ id, title, last }) => [id, title, last?.error?.code]),
      [['failed', 'Repair it', 'MODEL_AUTH']],
    )
    assert.equal(
      (await ids('--failed', '--waiting')).map(({ id }) => id),
      ['failed'],
    )
    assert.equal((await ids()).length, 2)
    const { code, stdout, stderr } = await runCli(context, ['sessions', '--waiting'], { cwd })
    assert.equal([code, stdout], [0, ''])
    assert.match(stderr, /Of 2 sessions in .* none waits for a person\./)
  })

  atTerminal(it, 'says in words how each stands', async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, {
      id: 'one',
      prompts: ['Repair it'],
      replies: [{ error: { kind: 'auth', message: 'the key is wrong' } }],
    })
    const { stdout } = await startAtTerminal(context, ['sessions'], { cwd }).ended
    assert.match(plain(stdout), /one +tester +failed: MODEL_AUTH +1 +– +\d+ s\n {2}Repair it\n/)
  })
})

describe('escapement show', (it) => {
  it('names the session that was probably meant, and takes no path for an id', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'tester-abcdef', ...twoTurns })
    const show = (...args: string[]) => runCli(context, ['show', ...args], { cwd })
    const [near, begun, far, path, none] = await Promise.all([
      show('tester-abcdeg'),
      show('tester'),
      show('something-else'),
      show('../tester-abcdef'),
      show(),
    ])
    assert.equal([near.code, begun.code, far.code, path.code, none.code], [1, 1, 1, 1, 2])
    assert.match(near.stderr, /no session "tester-abcdeg" in .*\. Did you mean "tester-abcdef"\?/)
    assert.match(begun.stderr, /Did you mean "tester-abcdef"\?/)
    assert.match(far.stderr, /"escapement sessions" lists the 1 there are/)
    assert.match(path.stderr, /"\.\.\/tester-abcdef" is not an agent id.*INVALID_ID/)
    assert.match(none.stderr, /"show" needs a session id/)
  })

  it('gives the session with its turns and conversation as one document', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', ...twoTurns })
    const { code, stdout } = await runCli(context, ['show', 'one'], { cwd })
    assert.is(code, 0)
    const told = JSON.parse(stdout) as Session & { conversation: { head: number; trunk: number[]; nodes: unknown[] } }
    assert.equal([told.id, told.status, told.runs[0]?.turns.length], ['one', 'completed', 2])
    assert.equal([told.conversation.head, told.conversation.trunk], [4, [1, 2, 3, 4]])
    assert.is(told.conversation.nodes.length, 4)
  })

  it('gives a turn, of a fork a shared one too, and refuses one that is not there', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', ...twoTurns })
    const fork = await runCli(context, ['fork', 'one', '--at', 'n4', '--id', 'two'], { cwd })
    assert.is(fork.code, 0, fork.stderr)
    const show = (...args: string[]) => runCli(context, ['show', ...args], { cwd })
    const [own, shared, beyond, word] = await Promise.all([
      show('one', '--turn', '1'),
      show('two', '--turn', '1'),
      show('one', '--turn', '3'),
      show('one', '--turn', 'last'),
    ])
    for (const { code, stdout } of [own, shared]) {
      assert.is(code, 0)
      const { turn, nodes } = JSON.parse(stdout) as { turn: Turn; nodes: { id: number }[] }
      assert.equal([turn.index, turn.toolCalls[0]?.name, nodes.map(({ id }) => id)], [0, 'look', [1, 2, 3]])
    }
    assert.equal([beyond.code, word.code], [2, 2])
    assert.match(beyond.stderr, /"one" has no turn 3: they go from 1 to 2/)
    assert.match(word.stderr, /--turn must be a whole number from 1 on; it is "last"/)
  })

  atTerminal(it, 'draws runs, turns and the tree, and a turn with what came of its calls', async (context) => {
    const cwd = projectFolder(context)
    const seen = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n')
    await recordSession(cwd, { id: 'one', prompts: ['What is there?'], replies: [looked(seen), 'Forty lines.'] })
    const [whole, turn] = await Promise.all([
      startAtTerminal(context, ['show', 'one'], { cwd }).ended,
      startAtTerminal(context, ['show', 'one', '--turn', '1'], { cwd }).ended,
    ])
    assert.match(plain(whole.stdout), /^one · tester · completed\n {2}model +embedded:scripted\n/)
    assert.match(plain(whole.stdout), /r0 · prompt · completed · 2 turns/)
    assert.match(plain(whole.stdout), /turn 1 {2}completed {2}n1 n2 .* look ✓/)
    assert.match(plain(whole.stdout), /● n2–n3 +look/)
    const shown = plain(turn.stdout)
    assert.match(shown, /Said n1 \(prompt\)\n {2}What is there\?\n\nReply n2\n {2}I had better look\.\n {2}I look\./)
    assert.match(shown, /✓ look .*· n3\n {6}line 0\n(?:.*\n){5} {6}… 28 more lines …\n(?:.*\n){5} {6}line 39/)
  })
})

describe('the request that escapement show prints', (it) => {
  it('is the one the model got, with provenance and what is new', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const requests = await recordSession(cwd, {
      id: 'one',
      ...twoTurns,
      instructions: 'You look.',
      settings: { seed: 3 },
    })
    const of = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(context, ['show', 'one', '--request', ...args], { cwd })
      assert.is(code, 0, stderr)
      return JSON.parse(stdout) as CapturedRequest & {
        since: null | { turnIndex: number; kept: number; added: number }
      }
    }
    const [last, first] = await Promise.all([of(), of('--turn', '1')])
    assert.equal(first.request, requests[0])
    assert.equal(last.request, requests[1])
    assert.is(first.since, null)
    assert.equal([last.since?.turnIndex, last.since?.kept, last.since?.added], [0, 1, 2])
    assert.equal(
      last.provenance.map(({ type }) => type),
      ['loopTurn', 'loopTurn', 'loopTurn'],
    )
  })

  atTerminal(it, 'is readable, marks what is new, and moves no cursor', async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, {
      id: 'one',
      prompts: ['Hello\u001B[2J'],
      replies: [looked('a\u009Bcat'), 'There is a cat.'],
    })
    const { stdout } = await startAtTerminal(context, ['show', 'one', '--request'], { cwd }).ended
    const shown = plain(stdout)
    assert.match(shown, /Since turn 1: 1 message kept, 2 new; system, tools and settings are the same\./)
    assert.match(shown, /Tools \(1\)\n {2}look\n {4}Looks\.\n {4}\{"type":"object"/)
    assert.match(shown, /\n= 0 user · turn 1, user, message 0\n {4}Hello\n/)
    assert.match(
      shown,
      /\n\+ 1 assistant · turn 1, assistant with 1 call, message 1\n(?:.*\n)*? {4}→ look \(call_0_0\)\n/,
    )
    assert.match(shown, /\n\+ 2 toolResult look \(call_0_0\) · turn 1, toolResult, message 2\n {4}acat/)
    assert.not(stdout.includes('\u009B') || stdout.includes('\u001B[2J'))
  })

  it('says what changed of the frame', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', ...twoTurns, instructions: 'You look.' })
    // As if the agent had been gone on with under other instructions and without its tool.
    const file = logFile(cwd, 'one')
    const lines = readFileSync(file, 'utf8').split('\n')
    const at = lines.findLastIndex((line) => line.includes('"turn.captured"'))
    const { crc: _, ...record } = JSON.parse(lines[at]!) as { crc: string }
    lines[at] = JSON.stringify({ ...record, system: 'You see.', tools: [] })
    writeFileSync(file, lines.join('\n'))
    const { code, stdout, stderr } = await runCli(context, ['show', 'one', '--request'], { cwd })
    assert.is(code, 0, stderr)
    const { since } = JSON.parse(stdout) as { since: object }
    assert.equal(since, {
      turnIndex: 0,
      kept: 1,
      gone: 0,
      added: 2,
      system: true,
      settings: false,
      tools: { added: [], removed: ['look'], changed: [] },
    })
  })

  it('is said to be missing where it was not captured, with how to capture it', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', ...twoTurns, captureTurnRequests: false })
    const { code, stdout, stderr } = await runCli(context, ['show', 'one', '--request', '--turn', '2'], { cwd })
    assert.equal([code, stdout], [1, ''])
    assert.match(stderr, /request of turn 2 of "one" was not captured\. .*captureTurnRequests: true/)
  })
})

describe('a log that cannot be read', (it) => {
  it('is named with its line by every command that needs it', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', ...twoTurns })
    copyFileSync(logFile(cwd, 'one'), logFile(cwd, 'newer'))
    appendFileSync(logFile(cwd, 'newer'), '{"v":99,"seq":1,"time":0,"type":"agent.stopped"}\n{}\n{}\n')
    damage(logFile(cwd, 'one'))
    const commands = [['show'], ['replay'], ['resume', '--model', 'embedded'], ['fork', '--at', 'n1'], ['export']]
    const ends = await Promise.all(
      commands.map(([command = '', ...rest]) => runCli(context, [command, 'one', ...rest], { cwd })),
    )
    for (const { code, stderr } of ends) {
      assert.is(code, 1)
      assert.match(stderr, /Line 3 of .*one\.jsonl.*LOG_CORRUPT/)
    }
    const newer = await runCli(context, ['show', 'newer'], { cwd })
    assert.is(newer.code, 1)
    assert.match(newer.stderr, /LOG_VERSION/)
  })
})
