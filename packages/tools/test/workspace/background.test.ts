import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, defineAgent, type LogRecord } from '../../../../src/index.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { endLeftGroup, runProcessGroup } from '../../src/workspace/processGroup.ts'
import { startOf } from '../../src/workspace/processIdentity.ts'
import { workspaceTools } from '../../src/workspace/workspaceTools.ts'
import { calls, quiet, startAgent } from '../../../../test/support/agentHarness.ts'
import { isAlive, untilDead } from '../../../../test/support/livingProcess.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { hastyClock, workspaceFolder } from './workspaceFolder.ts'

const limits = { timeoutMs: 20_000 }

/** A process that does nothing, and is ended after the case. */
function sleeper({ cleanup }: Pick<CaseContext, 'cleanup'>): number {
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
  cleanup(() => void child.kill('SIGKILL'))
  return child.pid!
}

describe('run_command in the background', (it) => {
  it('is offered only where it is wanted', (context) => {
    const { dir } = workspaceFolder(context)
    const [off, on] = [{}, { background: true }].map((options) =>
      workspaceTools(dir, options).find(({ name }) => name === 'run_command'),
    )
    const fields = (tool: typeof on) => Object.keys(tool!.inputSchema['properties'] as object)
    assert.equal(
      [fields(off), fields(on)],
      [
        ['command', 'timeoutMs', 'cwd'],
        ['command', 'timeoutMs', 'cwd', 'background'],
      ],
    )
    assert.not.match(off!.description, /goes into the background/)
    assert.throws(() => workspaceTools(dir, { background: 'choice' as never }), /background: /)
  })

  it('leaves a server running, shows its output, and ends it with all its processes', limits, async (context) => {
    const { dir } = workspaceFolder(context)
    const command = 'echo $$; sleep 1000 & echo $!; echo listening; wait'
    const harness = await startAgent(context, {
      tools: workspaceTools(dir, { background: true, clock: hastyClock }),
      replies: [
        calls('c', ['run_command', { command, background: true, cwd: '.' }]),
        'it runs',
        calls('k', ['check_call', { id: 'b1' }]),
        'it still runs',
        calls('x', ['cancel_call', { id: 'b1' }]),
        'it is over',
      ],
    })
    await harness.agent.prompt('start it').result
    let output = ''
    await harness.until((event) => {
      if (event.type === 'tool.progress') output += (event.progress as { output: string }).output
      return output.includes('listening')
    })
    const pids = output.split('\n').slice(0, 2).map(Number)
    await harness.agent.prompt('how is it?').result
    const shown = harness.ofType('tool.end').find(({ name }) => name === 'check_call')!
    assert.match(textOf(shown.message.content), /Its newest output:\n\n\d+\n\d+\nlistening\n$/)
    assert.equal(pids.map(isAlive), [true, true])
    await harness.agent.prompt('enough').result
    for (const pid of pids) await untilDead(pid, context.signal)
    assert.equal(
      harness.ofType('call.noted').map(({ left }) => (left as { pid: number }).pid),
      [pids[0]],
    )
  })

  it('reports how a command ended, with the timeouts of the background', limits, async (context) => {
    const { dir } = workspaceFolder(context)
    const harness = await startAgent(context, {
      tools: workspaceTools(dir, { background: true, clock: hastyClock, commandTimeoutMs: 25_000 }),
      replies: [
        calls('c', ['run_command', { command: 'echo built', background: true }]),
        calls('d', ['run_command', { command: 'sleep 1000', background: true }]),
        calls('w', 'wait_for'),
        'done',
      ],
    })
    await harness.agent.prompt('go').result
    const ends = harness.ofType('call.reported').map(({ id, content }) => [id, textOf(content)] as const)
    const said = new Map(ends)
    assert.match(said.get('b1')!, /^built\n\[exit code 0 after/)
    assert.match(said.get('b2')!, /timed out: stopped by the limit of 25000 ms/)
  })
})

describe('a group that a dead process left', (it) => {
  it('is ended before anything of its agent goes on, which says that it was interrupted', limits, async (context) => {
    const { dir } = workspaceFolder(context)
    const logs = join(dir, '..', 'logs')
    mkdirSync(logs)
    const program = join(import.meta.dirname, 'backgroundChild.ts')
    const child = spawn(process.execPath, [program, logs, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
    const told = Promise.withResolvers<number>()
    child.stdout.on('data', (text: Buffer) => told.resolve(Number(text.toString())))
    const ended = new Promise((resolve) => void child.once('exit', resolve))
    const pid = await told.promise
    context.cleanup(() => isAlive(pid) && process.kill(-pid, 'SIGKILL'))
    child.kill('SIGKILL')
    await ended
    assert.is(isAlive(pid), true)

    const seen: boolean[] = []
    const model = policyModel(({ messages }) => {
      seen.push(isAlive(pid))
      return textOf(messages.at(-1)!.content)
    })
    const store = fileStore(logs)
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const agent = await runtime.open(
      'a1',
      defineAgent({ name: 'builder', model, tools: workspaceTools(dir, { background: true }) }),
    )
    if (agent.pause !== null) await agent.resume().result
    const records: LogRecord[] = []
    while (!records.some(({ type }) => type === 'call.reported')) {
      context.signal.throwIfAborted()
      await quiet()
      await agent.settled()
      records.splice(0)
      for await (const record of store.read('a1')) records.push(record)
    }
    await untilDead(pid, context.signal)
    assert.ok(seen.length > 0)
    assert.not.ok(seen.includes(true), 'no request was made while it was alive')
    const [report] = records.filter((record) => record.type === 'call.reported')
    assert.equal([report?.id, report?.ended], ['b1', 'interrupted'])
  })

  it('is taken for no later process of the same number', limits, async (context) => {
    const pid = sleeper(context)
    const start = await startOf(pid)
    await endLeftGroup({ pid, start: `${start}0` }, hastyClock)
    assert.is(isAlive(pid), true)
    await endLeftGroup({ pid, start: start! }, hastyClock)
    await untilDead(pid, context.signal)
    assert.is(await startOf(pid), undefined)
  })

  it('never begins without a note of it', limits, async (context) => {
    const { dir } = workspaceFolder(context)
    const group = {
      command: 'touch begun',
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '' },
      timeoutMs: 1_000_000,
      clock: hastyClock,
      onOutput: () => {},
    }
    let pid = 0
    const refused = runProcessGroup({
      ...group,
      signal: context.signal,
      started: async (led) => {
        pid = led
        // By then the command would have begun.
        await new Promise((resolve) => void spawn('sleep', ['0.3']).once('exit', resolve))
        throw new Error('the disk is full')
      },
    })
    await assert.rejects(refused, /the disk is full/)
    const leaving = new AbortController()
    const late = runProcessGroup({ ...group, signal: leaving.signal, started: () => new Promise(() => {}) })
    leaving.abort()
    assert.is((await late).stopped, 'abort')
    assert.equal([existsSync(join(dir, 'begun')), isAlive(pid)], [false, false])
    const told = await runProcessGroup({ ...group, signal: context.signal, started: async () => {} })
    assert.equal([told.code, existsSync(join(dir, 'begun'))], [0, true])
  })
})
