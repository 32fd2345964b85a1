/**
 * A foreign agent without a model, in plain JSON-RPC: each line of a prompt is something that it does. Given a folder, it keeps its sessions there, and
 * can load them.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

const [folder] = process.argv.slice(2)
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const waiting = new Map<number, (message: Message) => void>()
let asked = 0
const ask = (method: string, params: object): Promise<Message> => {
  asked += 1
  send({ id: asked, method, params: { sessionId, ...params } })
  return new Promise((resolve) => waiting.set(asked, resolve))
}
let sessionId = ''
const update = (given: object): void => send({ method: 'session/update', params: { sessionId, update: given } })
const say = (text: string, kind = 'agent_message_chunk'): void =>
  update({ sessionUpdate: kind, content: { type: 'text', text } })
const note = (line: string): void => {
  if (folder !== undefined) appendFileSync(join(folder, 'did'), `${line}\n`)
}
const cancelled = Promise.withResolvers<void>()
const shown = ({ result, error }: Message): string => error?.message ?? JSON.stringify(result)

const options = [
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'a', name: 'Always', kind: 'allow_always' },
  { optionId: 'n', name: 'No', kind: 'reject_once' },
]

const deeds: { readonly [verb: string]: (rest: string) => unknown } = {
  say,
  think: (text) => say(text, 'agent_thought_chunk'),
  tool: (title) => update({ sessionUpdate: 'tool_call', toolCallId: title, title }),
  done: (id) => update({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed' }),
  usage: (used) =>
    update({
      sessionUpdate: 'usage_update',
      used: Number(used),
      size: 100_000,
      cost: { amount: 0.25, currency: 'USD' },
    }),
  edit: async (path) => {
    const toolCall = { toolCallId: 'e1', title: `Edit ${path}`, kind: 'edit', locations: [{ path }] }
    say(shown(await ask('session/request_permission', { toolCall, options })))
  },
  run: async (command) => {
    const toolCall = { toolCallId: 'x1', title: command, kind: 'execute', rawInput: { command } }
    say(shown(await ask('session/request_permission', { toolCall, options })))
  },
  choose: async (names) => {
    const choices = names.split(' ').map((name) => ({ optionId: `o-${name}`, name, kind: 'allow_once' }))
    say(
      shown(
        await ask('session/request_permission', { toolCall: { toolCallId: 'q1', title: 'Which?' }, options: choices }),
      ),
    )
  },
  /** A permission with options of its own, as `kind:allow_always,allow_once,…`, about a call that was told of before. */
  permit: async (line) => {
    const [kind = '', kinds = ''] = line.split(':')
    update({ sessionUpdate: 'tool_call', toolCallId: 'p1', title: 'Do it', kind, rawInput: { command: 'git push' } })
    const given = kinds.split(',').map((name, at) => ({ optionId: `${at}`, name: `${name} ${at}`, kind: name }))
    const answer = await ask('session/request_permission', { toolCall: { toolCallId: 'p1' }, options: given })
    if (process.env['MUTE'] === undefined) say(shown(answer))
  },
  read: async (path) => say(shown(await ask('fs/read_text_file', { path }))),
  write: async (path) => say(shown(await ask('fs/write_text_file', { path, content: 'written' }))),
  exec: async (line) => {
    const [command, ...args] = line.split(' ')
    const made = await ask('terminal/create', { command, args })
    const terminalId = made.result?.['terminalId']
    if (terminalId === undefined) return say(shown(made))
    const ended = await ask('terminal/wait_for_exit', { terminalId })
    const output = await ask('terminal/output', { terminalId })
    await ask('terminal/release', { terminalId })
    return say(`${shown(ended)} ${shown(output)}`)
  },
  once: (line) => {
    if (existsSync(join(folder!, 'once'))) return undefined
    writeFileSync(join(folder!, 'once'), '')
    return deed(line)
  },
  note: (line) => note(line),
  garbage: () => process.stdout.write('no message\n[]\n{"half":\n'),
  flood: () => process.stdout.write('x\n'.repeat(200_000)),
  die: () => process.kill(process.pid, 'SIGKILL'),
  /** Kills what has started it, and goes on talking. */
  orphan: () => {
    process.kill(process.ppid, 'SIGKILL')
    setInterval(() => {
      say('still here')
      void ask('fs/read_text_file', { path: '/none' })
    }, 5)
    return new Promise(() => {})
  },
  fail: (text) => {
    process.stderr.write(`Error: ${text}\n`)
    process.exit(3)
  },
  hang: () => new Promise(() => {}),
  wait: () => cancelled.promise,
  stop: (reason) => Promise.reject(new Error(reason)),
}

function deed(line: string): unknown {
  const at = line.indexOf(' ')
  return deeds[at < 0 ? line : line.slice(0, at)]?.(at < 0 ? '' : line.slice(at + 1))
}

async function prompt(id: number, text: string): Promise<void> {
  if (folder !== undefined) appendFileSync(join(folder, sessionId), `${JSON.stringify(text)}\n`)
  let stopReason = 'end_turn'
  for (const line of text.split('\n'))
    try {
      await deed(line)
    } catch (thrown) {
      stopReason = (thrown as Error).message
    }
  send({ id, result: { stopReason } })
}

const answers: { readonly [method: string]: (id: number, params: Record<string, unknown>) => unknown } = {
  initialize: (id) =>
    send({
      id,
      result: {
        protocolVersion: Number(process.env['VERSION'] ?? 1),
        agentCapabilities: { loadSession: folder !== undefined },
        authMethods: [{ id: 'key', name: 'A key' }],
      },
    }),
  'session/new': (id) => {
    if (process.env['LOGIN'] !== undefined)
      return send({ id, error: { code: -32_000, message: 'Authentication required' } })
    sessionId = `s${process.pid}`
    note(`new ${sessionId}`)
    return send({ id, result: { sessionId } })
  },
  'session/load': (id, params) => {
    sessionId = String(params['sessionId'])
    note(`load ${sessionId}`)
    const past = existsSync(join(folder!, sessionId)) ? readFileSync(join(folder!, sessionId), 'utf8').trim() : ''
    for (const line of past.split('\n')) if (line !== '') say(JSON.parse(line) as string, 'user_message_chunk')
    say('said before')
    return send({ id, result: {} })
  },
  'session/prompt': (id, params) => {
    const [block] = params['prompt'] as readonly { readonly text: string }[]
    note(block!.text.startsWith('You were interrupted') ? 'goes on' : 'begins')
    void prompt(id, block!.text)
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message
  if (message.method === 'session/cancel') {
    note('cancelled')
    cancelled.resolve()
  } else if (message.method !== undefined && message.id !== undefined)
    answers[message.method]?.(message.id, message.params ?? {})
  else if (message.id !== undefined) waiting.get(message.id)?.(message)
})
