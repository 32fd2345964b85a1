import { readdirSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { cleanEnv, cliCommand, projectFolder } from '../../../cli/test/cliChild.ts'
import { keeperModule } from '../../../cli/test/keeperModule.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { call, type Fill } from './mcpHarness.ts'

const agents = keeperModule(`const tasks = messages.filter(({ role }) => role === 'user').length
    return last.content.at(-1).text === 'wind' ? { toolCalls: [{ name: 'wind', input: {} }] } : 'task ' + tasks`)

/** A client that starts the command; gives it with what the process says on standard error. */
async function start({ cleanup }: CaseContext, dir: string, mode: 'legacy' | 'auto', fill?: Fill) {
  const [command = '', ...args] = cliCommand(['mcp', './agents.ts'])
  const transport = new StdioClientTransport({ command, args, cwd: dir, env: cleanEnv(dir), stderr: 'pipe' })
  let said = ''
  transport.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: fill === undefined ? {} : { elicitation: {} }, versionNegotiation: { mode } },
  )
  if (fill !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => fill(params))
  cleanup(() => client.close())
  await client.connect(transport)
  return { client, transport, said: () => said }
}

describe('escapement mcp', (it) => {
  for (const mode of ['legacy', 'auto'] as const)
    it(
      `is driven over its standard streams, killed, and goes on from its log (${mode})`,
      { timeoutMs: 60_000 },
      async (context) => {
        const dir = projectFolder(context, { 'agents.ts': agents })
        const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
        const first = await start(context, dir, mode, fill)
        const { session, text } = await call(first.client, 'keeper', { task: 'wind' })
        assert.is(text, 'It is wound')
        assert.match(first.said(), /this is no protocol\nnor this/)
        assert.ok(readdirSync(join(dir, '.escapement')).some((name) => name.startsWith(session)))
        process.kill(first.transport.pid!, 'SIGKILL')

        const second = await start(context, dir, mode)
        assert.is((await call(second.client, 'keeper', { session })).text, 'It is wound')
        assert.is((await call(second.client, 'keeper', { session, task: 'more' })).text, 'task 2')
        const waiting = await call(second.client, 'keeper', { session, task: 'wind' })
        assert.is(waiting.stopReason, 'waiting')
        process.kill(second.transport.pid!, 'SIGKILL')

        const third = await start(context, dir, mode, fill)
        assert.is((await call(third.client, 'keeper', { session })).text, 'It is wound')
      },
    )

  it('serves over HTTP too, beside the page', { timeoutMs: 60_000 }, async (context) => {
    const dir = projectFolder(context, { 'agents.ts': agents })
    const [file = '', ...args] = cliCommand(['mcp', './agents.ts', '--http', '--json'])
    const child = spawn(file, args, { cwd: dir, env: cleanEnv(dir), stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    context.cleanup(async () => {
      child.kill('SIGKILL')
      await ended
    })
    let out = ''
    const { mcp } = await new Promise<{ mcp: string }>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text
        const line = out.split('\n').find((one) => one.startsWith('nor this{') || one.startsWith('{'))
        if (line !== undefined && line.endsWith('}'))
          resolve(JSON.parse(line.replace('nor this', '')) as { mcp: string })
      })
    })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    context.cleanup(() => client.close())
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp)))
    assert.is((await call(client, 'keeper', { task: 'hello' })).text, 'task 1')
    child.kill('SIGTERM')
    assert.equal(await ended, [0, null])
  })

  it('says what is wrong on standard error', { timeoutMs: 60_000 }, async (context) => {
    const dir = projectFolder(context, { 'agents.ts': agents })
    const [file = '', ...args] = cliCommand(['mcp', './nothing.ts'])
    const child = spawn(file, args, { cwd: dir, env: cleanEnv(dir), stdio: 'pipe' })
    let said = ''
    let out = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    const [code] = (await once(child, 'close')) as [number]
    assert.equal([code, out], [2, ''])
    assert.match(said, /nothing\.ts does not exist/)
  })
})
