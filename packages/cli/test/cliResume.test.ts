import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordOf } from '../../../src/protocol/records.ts'
import { embeddedModel } from '../src/embedded/embeddedModel.ts'
import { openSession } from '../src/sessions/openSession.ts'
import { cliAgentName, instructionsFor } from '../src/config/ownSession.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { cliCommand, hasText, projectFolder, startChild, waitFor } from './cliChild.ts'
import { isAlive } from '../../../test/support/livingProcess.ts'
import { endlessProject, soundProject } from './cliProjects.ts'
import { logFile, recordsIn, recordSession } from './cliSessions.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const timeoutMs = 60_000

interface Left {
  readonly cwd: string
  readonly id: string
}

const ofType = <T extends 'run.start' | 'run.end' | 'message.added' | 'tool.end'>({ cwd, id }: Left, type: T) =>
  recordsIn(logFile(cwd, id)).filter((record): record is RecordOf<T> => record.type === type)

/** A session whose process was killed while a command ran. */
async function killedSession(context: CaseContext): Promise<Left> {
  const cwd = projectFolder(context, endlessProject)
  const child = startChild(context, cliCommand(['run', 'Fix the failing test.', '--yes']), { cwd })
  await waitFor(() => hasText(join(cwd, 'pid')), context.signal)
  const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
  child.signal('SIGKILL')
  await child.ended
  // The command outlives the process that started it.
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  writeFileSync(join(cwd, 'test.js'), 'console.log("ok")\n')
  const log = readdirSync(join(cwd, '.escapement')).find((name) => name.endsWith('.jsonl')) ?? ''
  return { cwd, id: log.replace('.jsonl', '') }
}

/** Fields that make a recorded session one of the command line's. */
const ours = (folder: string) => ({ name: cliAgentName, instructions: instructionsFor(folder) })

/** A session that stands still at a command to be approved. */
async function waitingSession(context: CaseContext): Promise<Left> {
  const cwd = projectFolder(context, soundProject)
  const choice = { model: embeddedModel(), isEmbedded: true }
  const session = await openSession({ dir: cwd, choice, needsApproval: () => true })
  const { agent } = session
  const asked = new Promise<void>((resolve) => {
    agent.subscribe((event) => event.type === 'approval.requested' && resolve())
  })
  agent.prompt('Fix the failing test.')
  await asked
  await session.close()
  return { cwd, id: agent.id }
}

describe('escapement resume', (it) => {
  it('goes on with a run whose process was killed, to its end', { timeoutMs }, async (context) => {
    const left = await killedSession(context)
    const { cwd, id } = left
    const { code, stdout, stderr } = await runCli(context, ['resume', id, '--yes'], { cwd })
    assert.is(code, 0, stdout + stderr)
    assert.match(stdout, /^Continuing a run: the process was interrupted\.\n/)
    assert.match(stdout, /✓ run_command node test\.js · exit code 0/)
    assert.is(ofType(left, 'message.added').length, 1)
    assert.equal(
      ofType(left, 'run.end').map(({ stopReason }) => stopReason),
      ['paused', 'stop'],
    )
    const [first, second] = ofType(left, 'run.start')
    assert.equal([second?.cause, second?.resumedFrom], ['resume', first?.runId])
    assert.equal(
      ofType(left, 'tool.end').flatMap(({ message }) => message.synthetic ?? []),
      ['interrupted'],
    )
    const again = await runCli(context, ['resume', id], { cwd })
    assert.equal([again.code, again.stderr], [0, ''])
    assert.match(again.stdout, /nothing left to do/)
    const request = await runCli(context, ['show', id, '--request'], { cwd })
    assert.is(request.code, 0, request.stderr)
    assert.match(request.stdout, /it is not known whether it happened/)
  })

  it('allows with --yes what waited for an approval, and denies it without', { timeoutMs }, async (context) => {
    const [allowed, denied] = await Promise.all([waitingSession(context), waitingSession(context)])
    const yes = await runCli(context, ['resume', allowed.id, '--yes'], { cwd: allowed.cwd })
    assert.is(yes.code, 0, yes.stdout)
    assert.match(yes.stdout, /pass already/)
    const no = await runCli(context, ['resume', denied.id, '--json'], { cwd: denied.cwd })
    assert.is(no.code, 1, no.stdout)
    assert.is(ofType(denied, 'tool.end').at(-1)?.message.synthetic, 'denied')
    const types = no.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type)
    assert.ok(types.includes('approval.decided') && types.includes('run.end'))
  })

  atTerminal(it, 'asks again at a terminal, and a chat follows', async (context) => {
    const { cwd, id } = await waitingSession(context)
    const child = startAtTerminal(context, ['resume', id], { cwd })
    await child.until('● n1 ')
    await child.until('› ')
    await child.until('? run_command: node --test')
    await child.until('allow it?')
    child.send('y\r')
    await child.until('pass already')
    await child.until('✓ done')
    child.send('hello\r')
    await child.until('I am the embedded model')
    await child.until('not done')
    child.send('\u0004')
    const { code, stdout } = await child.ended
    assert.is(code, 0)
    assert.match(plain(stdout), new RegExp(`continue with: escapement resume ${id}`))
  })

  atTerminal(it, 'leaves what waits for an approval waiting when the chat is left', async (context) => {
    const left = await waitingSession(context)
    const child = startAtTerminal(context, ['resume', left.id], left)
    await child.until('allow it?')
    child.send('\u0004')
    assert.is((await child.ended).code, 0)
    const { stdout } = await runCli(context, ['show', left.id], { cwd: left.cwd })
    assert.is((JSON.parse(stdout) as { status: string }).status, 'paused')
  })

  it('refuses a session whose agent only code can make', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, { id: 'one', prompts: ['Hello'], replies: ['Good day.'] })
    const { code, stdout, stderr } = await runCli(context, ['resume', 'one', '--model', 'embedded'], { cwd })
    assert.equal([code, stdout], [1, ''])
    assert.match(stderr, /"one" is of an agent "tester".*runtime\.resume\("one", definition\)/)
  })

  for (const [what, own] of [
    ['is called as the old one of ours was', { name: 'coder', instructions: 'READ-ONLY reviewer. Never writes.' }],
    ['is called as ours is', { name: cliAgentName, instructions: 'READ-ONLY reviewer. Never writes.' }],
    ['is called as ours is, with its requests not captured', { name: cliAgentName, captureTurnRequests: false }],
    ['was not told anything yet', { name: 'coder', prompts: [] }],
  ] as const) {
    it(`leaves an application's agent alone that ${what}`, { timeoutMs }, async (context) => {
      const cwd = projectFolder(context)
      await recordSession(cwd, { id: 'one', prompts: ['Hello'], replies: ['Good day.'], ...own })
      const before = readFileSync(logFile(cwd, 'one'), 'utf8')
      const { code, stderr } = await runCli(context, ['resume', 'one', '--yes', '--model', 'embedded'], { cwd })
      assert.is(code, 1)
      assert.match(stderr, /that the command line did not begin/)
      assert.is(readFileSync(logFile(cwd, 'one'), 'utf8'), before)
    })
  }

  it('goes on with a session of before its agent had a name of its own', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    const old = { ...ours(cwd), name: 'coder' }
    await recordSession(cwd, { id: 'one', prompts: ['Hello'], replies: ['Good day.'], ...old })
    const { code, stdout, stderr } = await runCli(context, ['resume', 'one', '--model', 'embedded'], { cwd })
    assert.is(code, 0, stderr)
    assert.match(stdout, /nothing left to do/)
  })

  it('works in the folder the session worked in, or in the one that is named', { timeoutMs }, async (context) => {
    const [there, here] = [projectFolder(context), projectFolder(context)]
    await recordSession(there, { id: 'one', prompts: ['Hello'], replies: ['Good day.'], ...ours(there) })
    const logs = join(there, '.escapement')
    const resume = (...more: string[]) =>
      runCli(context, ['resume', 'one', '--logs', logs, '--model', 'embedded', ...more], { cwd: here })
    const unsure = await resume()
    assert.equal([unsure.code, unsure.stdout], [2, ''])
    const [said, goThere, goHere] = unsure.stderr.trimEnd().split('\n')
    assert.is(said, `escapement: Session "one" worked in ${there}, not in the folder you are in.`)
    assert.is(goThere, `To continue there: escapement resume one --dir ${there} --logs ${logs}`)
    assert.is(goHere, `To continue here: escapement resume one --dir . --logs ${logs}`)
    assert.is((await resume('--dir', there)).code, 0)
    assert.is((await resume('--dir', '.')).code, 0)
  })

  it('takes the model of the session, and says what that needs', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context)
    await recordSession(cwd, {
      id: 'one',
      ...ours(cwd),
      modelId: 'anthropic:claude-x',
      prompts: ['Hi'],
      replies: ['Yes.'],
    })
    const own = await runCli(context, ['resume', 'one'], { cwd })
    assert.is(own.code, 1)
    assert.match(own.stderr, /anthropic:claude-x needs a key: ANTHROPIC_API_KEY is not set/)
    const other = await runCli(context, ['resume', 'one', '--model', 'embedded'], { cwd })
    assert.is(other.code, 0)
    assert.match(other.stdout, /nothing left to do/)
  })
})
