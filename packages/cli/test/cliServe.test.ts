import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { instructionsFor } from '../src/config/ownSession.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { logFile, recordsIn, recordSession } from './cliSessions.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const index = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src', 'index.ts')).href

const agents = `import { defineAgent, policyModel } from '${index}'
export const greeter = defineAgent({ name: 'greeter', model: policyModel(() => 'hello') })
export const more = [defineAgent({ name: 'other', model: policyModel(() => 'x') })]
`

async function folder({ cleanup }: CaseContext, module = agents): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-serve-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'agents.ts'), module)
  await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
  return dir
}

function start({ cleanup }: CaseContext, dir: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [main, 'serve', ...args], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] })
  cleanup(() => void child.kill('SIGKILL'))
  return { child, code: once(child, 'close').then(([code]) => code as number) }
}

describe('escapement serve', (it) => {
  it(
    'serves what a module defines, and ends at Ctrl-C with the clients told',
    { timeoutMs: 20_000 },
    async (context) => {
      const { child, code } = start(context, await folder(context), './agents.ts', '--token', 'a-token-of-some-length')
      const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
      const { url, definitions } = JSON.parse(line) as { url: string; definitions: string[] }
      assert.equal(definitions, ['greeter', 'other'])
      const socket = new WebSocket(url, ['escapement.v1'])
      const frames: { type: string; id?: string; result?: unknown }[] = []
      socket.addEventListener('message', ({ data }) => frames.push(...[JSON.parse(String(data))].flat()))
      const closed = new Promise<number>((resolve) => socket.addEventListener('close', (event) => resolve(event.code)))
      await new Promise((resolve) => socket.addEventListener('open', resolve))
      const until = async (fits: (frame: { type: string; id?: string }) => boolean): Promise<void> => {
        while (!frames.some(fits))
          await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))
      }
      socket.send(JSON.stringify({ type: 'hello', token: 'a-token-of-some-length' }))
      socket.send(JSON.stringify({ type: 'agent.spawn', id: '1', definition: 'greeter', agentId: 'g1' }))
      await until(({ id }) => id === '1')
      const spawned = frames.find(({ id }) => id === '1')?.result as { agentId: string } | undefined
      assert.is(spawned?.agentId, 'g1')
      child.kill('SIGINT')
      assert.is(await closed, 1001)
      assert.ok(frames.some(({ type }) => type === 'closing'))
      assert.is(await code, 0)
    },
  )

  it('goes on with its own agents and leaves those of the command line', { timeoutMs: 20_000 }, async (context) => {
    const dir = await folder(context, agents.replaceAll('greeter', 'coder'))
    for (const [id, instructions] of [
      ['theirs', 'Greet.'],
      ['ours', instructionsFor(dir)],
    ] as const) {
      await recordSession(dir, { id, name: 'coder', instructions, prompts: ['Hello'], replies: ['Good day.'] })
      const lines = readFileSync(logFile(dir, id), 'utf8').trimEnd().split('\n')
      // As if the process had died before the reply.
      writeFileSync(
        logFile(dir, id),
        `${lines
          .slice(
            0,
            lines.findIndex((line) => /"reply.end"/.test(line)),
          )
          .join('\n')}\n`,
      )
    }
    const { child, code } = start(context, dir, './agents.ts')
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    assert.equal((JSON.parse(line) as { resumed: string[] }).resumed, ['theirs'])
    child.kill('SIGINT')
    assert.is(await code, 0)
    assert.not(recordsIn(logFile(dir, 'ours')).some(({ type }) => type === 'reply.end'))
  })

  for (const [what, module, args, says] of [
    ['a module that is not there', agents, ['./nope.ts'], /nope\.ts does not exist: give the path of a module/],
    ['a folder', agents, ['.'], /is a folder: give the path of a module in it/],
    ['JSON', agents, ['./package.json'], /package\.json is JSON: give the path of a module/],
    ['a module that does not load', 'throw new Error("no luck")', ['./agents.ts'], /agents\.ts:1: no luck/],
    ['a module without an agent', 'export const a = 1\n', ['./agents.ts'], /exports no agent: .*it exports: a/],
    ['another address without a token', agents, ['./agents.ts', '--host', '0.0.0.0'], /there are no tokens/],
    ['a port that is none', agents, ['./agents.ts', '--port', 'x'], /--port takes a number/],
    ['a port beyond the last', agents, ['./agents.ts', '--port', '65536'], /--port takes a number up to 65535, not/],
    ['a short token', agents, ['./agents.ts', '--token', 'short'], /at least 16 characters/],
  ] as const) {
    it(`refuses ${what}`, { timeoutMs: 20_000 }, async (context) => {
      const { code, stderr } = await runCli(context, ['serve', ...args], { cwd: await folder(context, module) })
      assert.is(code, 2)
      assert.match(stderr, says)
    })
  }
})
