import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createMachine } from 'xstate'
import { hostMachine } from '../../../src/xstate.ts'
import { createRuntime, defineAgent, fileStore, policyModel } from '../../../src/index.ts'
import { readAll } from '../../evaluation/src/testing/contractDemands.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const index = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src', 'index.ts')).href

describe('escapement wake', (it) => {
  it('has the agents of a module do what is due, and ends at Ctrl-C', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-wake-'))
    cleanup(() => rm(dir, { recursive: true, force: true }))
    await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
    await writeFile(
      join(dir, 'agents.ts'),
      `import { defineAgent, policyModel } from '${index}'
export const greeter = defineAgent({ name: 'greeter', model: policyModel(() => 'hello') })
`,
    )
    const store = fileStore(join(dir, '.escapement'))
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(defineAgent({ name: 'greeter', model: policyModel(() => 'hello') }), { id: 'g' })
    agent.schedule({ id: 's', at: Date.now() + 100, prompt: 'Greet.' })
    await agent.close()
    await runtime.close()
    const child = spawn(process.execPath, [main, 'wake', './agents.ts', '--dir', dir], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    cleanup(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    assert.equal(JSON.parse(line), { definitions: ['greeter'] })
    const isDone = async (): Promise<boolean> =>
      (await readAll(store, 'g')).some((record) => record.type === 'run.end' && record.stopReason === 'stop')
    while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill('SIGINT')
    assert.equal(await once(child, 'close'), [0, null])
  })

  it('has the machines of a module go on when they are due', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-wake-'))
    cleanup(() => rm(dir, { recursive: true, force: true }))
    await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
    const egg = { id: 'egg', initial: 'soft', states: { soft: { after: { 100: 'hard' } }, hard: { type: 'final' } } }
    await writeFile(
      join(dir, 'machines.ts'),
      `import { createMachine } from '${import.meta.resolve('xstate')}'
import { defineHost } from '${pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src', 'xstate.ts')).href}'
export const egg = defineHost({ machine: createMachine(${JSON.stringify(egg)}) })
`,
    )
    const store = fileStore(join(dir, '.escapement'))
    const runtime = await createRuntime({ store })
    await (await hostMachine(runtime, createMachine(egg as never), { id: 'e' })).close()
    await runtime.close()
    const child = spawn(process.execPath, [main, 'wake', './machines.ts', '--dir', dir], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    cleanup(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    assert.equal(JSON.parse(line), { definitions: [], machines: ['egg'] })
    const isDone = async (): Promise<boolean> => (await readAll(store, 'e')).some(({ type }) => type === 'host.done')
    while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill('SIGINT')
    assert.equal(await once(child, 'close'), [0, null])
  })
})
