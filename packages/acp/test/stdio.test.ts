import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { cliCommand, projectFolder } from '../../cli/test/cliChild.ts'
import { keeperModule } from '../../cli/test/keeperModule.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { choose, openEditor, type EditorOptions } from './acpHarness.ts'

const agents = keeperModule(`if (last.content.some((block) => block.text === 'wait')) return new Promise(() => {})
    return { toolCalls: [{ name: 'wind', input: {} }] }`)

function start({ cleanup }: CaseContext, dir: string, ...args: readonly string[]) {
  const [file = '', ...rest] = cliCommand(['acp', './agents.ts', ...args])
  const child = spawn(file, rest, { cwd: dir, stdio: 'pipe' })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  cleanup(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  return { child, ended, said: () => said }
}

async function edit(context: CaseContext, dir: string, options: EditorOptions = {}) {
  const started = start(context, dir)
  const { child } = started
  const output = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>
  const stream = ndJsonStream(output, Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>)
  return { ...started, editor: await openEditor(context, stream, options) }
}

describe('escapement acp', (it) => {
  it(
    'is driven over its standard streams, ends with its input, and goes on from its log',
    { timeoutMs: 60_000 },
    async (context) => {
      const dir = projectFolder(context, { 'agents.ts': agents })
      const first = await edit(context, dir, { answer: () => choose('allow') })
      const { sessionId } = await first.editor.agent.request('session/new', { cwd: dir, mcpServers: [] })
      assert.is((await first.editor.say(sessionId, 'Wind it.')).stopReason, 'end_turn')
      assert.is(first.editor.text(), 'It is wound')
      assert.match(first.said(), /this is no protocol\nnor this/)
      first.child.stdin.end()
      assert.is(await first.ended, 0)
      assert.ok(readdirSync(join(dir, '.escapement')).some((name) => name.startsWith(sessionId)))

      const second = await edit(context, dir)
      const { sessions } = await second.editor.agent.request('session/list', { cwd: dir })
      assert.equal(
        sessions.map(({ sessionId: id, title, cwd }) => ({ id, title, cwd })),
        [{ id: sessionId, title: 'Wind it.', cwd: dir }],
      )
      await second.editor.agent.request('session/load', { sessionId, cwd: dir, mcpServers: [] })
      assert.is(second.editor.text(), 'It is wound')
      second.editor.say(sessionId, 'wait').catch(() => {})
      await second.editor.agent.request('session/list', {})
      second.child.kill('SIGTERM')
      assert.is(await second.ended, 0, second.said())
    },
  )

  it('answers lines that are no messages, and takes those after them', { timeoutMs: 60_000 }, async (context) => {
    const { child, ended } = start(context, projectFolder(context, { 'agents.ts': agents }))
    const lines: { id: unknown; error?: { code: number } }[] = []
    let rest = ''
    const three = new Promise<void>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const parts = (rest + text).split('\n')
        rest = parts.pop() ?? ''
        for (const line of parts) lines.push(JSON.parse(line) as (typeof lines)[number])
        if (lines.length === 3) resolve()
      })
    })
    child.stdin.write(
      'what is this\n\n[]\n{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
    )
    await three
    assert.equal(
      lines.map(({ id, error }) => [id, error?.code]),
      [
        [null, -32700],
        [null, -32600],
        [1, undefined],
      ],
    )
    child.stdin.end()
    assert.is(await ended, 0)
  })

  for (const [what, args, says] of [
    ['a folder that is not there', ['--logs', 'nowhere'], /--logs "nowhere" is not an existing folder/],
    ['an option it has not', ['--port', '1'], /takes no option --port/],
  ] as const) {
    it(`refuses ${what} on standard error`, { timeoutMs: 60_000 }, async (context) => {
      const { child, ended, said } = start(context, projectFolder(context, { 'agents.ts': agents }), ...args)
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
      assert.is(await ended, 2)
      assert.match(said(), says)
      assert.is(out, '')
    })
  }
})
