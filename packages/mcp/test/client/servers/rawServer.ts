/**
 * A server of the Model Context Protocol over standard input and output, by hand, so that it can do what no SDK does. Its argument is JSON:
 * see `Raw`. Tools that it always understands: `echo`, `slow`, `die`, `big { bytes }`, `change`, `key`, `env { name }`, `pid`, `gives { content }`,
 * and `ask` with `asks`.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface Raw {
  /** Behaviour in `initialize`; `hang`: no answer. */
  readonly start?: 'hang' | 'exit' | 'garbage'
  /** Written to standard error when it starts; `$NAME` is a variable. */
  readonly writes?: string
  /** Ignores the end of its input and SIGTERM. */
  readonly isStubborn?: boolean
  /** Answers of `tools/list`, page by page; without it the tools that it understands. */
  readonly pages?: readonly (readonly unknown[])[]
  /** Each page has a next one. */
  readonly isEndless?: boolean
  /** After the tool `change` was called: what is listed then. */
  readonly later?: readonly unknown[]
  /** The list after `change` comes so much later, in milliseconds. */
  readonly listMs?: number
  /** It announces a change with each list: before the answer, or after it. */
  readonly announces?: 'before' | 'after'
  readonly instructions?: string
  /** It says that it has resources. */
  readonly hasResources?: boolean
  /** The question that its tool `ask` has people asked, who give a `name`; their answer is its result. */
  readonly asks?: string
  /** Calls of these tools are never answered. */
  readonly hangs?: readonly string[]
  /**
   * A line is added for each start and each call: `start 123`, `call echo key`; with `announces` for each list. `beside 123`: when it
   * started, that one of before still ran.
   */
  readonly journal?: string
}

const startedBefore = (file: string): number[] =>
  existsSync(file) ? [...readFileSync(file, 'utf8').matchAll(/^start (\d+)$/gm)].map(([, pid]) => Number(pid)) : []

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const raw = JSON.parse(process.argv[2] ?? '{}') as Raw
const journal = (line: string): void => {
  if (raw.journal !== undefined) appendFileSync(raw.journal, `${line}\n`)
}
for (const pid of raw.journal === undefined ? [] : startedBefore(raw.journal))
  if (isAlive(pid)) journal(`beside ${pid}`)
journal(`start ${process.pid}`)
if (raw.writes !== undefined)
  process.stderr.write(raw.writes.replaceAll(/\$(\w+)/g, (_, name: string) => process.env[name] ?? ''))
if (raw.start === 'exit') process.exit(3)
if (raw.start === 'garbage') {
  process.stdout.write('Server is starting …\n{"not": "a message"}\n\n{{{{\n')
  process.stderr.write('warning: hunter2-hunter2\n')
}
if (raw.isStubborn === true) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 60_000)
}

const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
})
const own = [
  tool('echo', {
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  }),
  ...['slow', 'die', 'big', 'change', 'key', 'env', 'pid', 'gives', ...(raw.asks === undefined ? [] : ['ask'])].map(
    (name) => tool(name),
  ),
]

const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let hasChanged = false
/** Its own requests: what is done with the answer. */
const asked = new Map<string, (result: unknown) => void>()

interface Request {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly params?: {
    readonly name?: string
    readonly cursor?: string
    readonly requestId?: number
    readonly arguments?: {
      readonly text?: string
      readonly bytes?: number
      readonly name?: string
      readonly content?: unknown
    }
    readonly _meta?: { readonly 'escapement/key'?: string; readonly traceparent?: string }
  }
}

function list({ id, params }: Request): void {
  const page = Number(params?.cursor ?? 0)
  const pages = hasChanged && raw.later !== undefined ? [raw.later] : (raw.pages ?? [own])
  const isLast = raw.isEndless !== true && page >= pages.length - 1
  const answer = {
    id,
    result: { tools: pages[page % pages.length], ...(isLast ? {} : { nextCursor: String(page + 1) }) },
  }
  if (raw.announces !== undefined) journal('list')
  const announce = (when: Raw['announces']): void => {
    if (raw.announces === when) send({ method: 'notifications/tools/list_changed' })
  }
  announce('before')
  if (hasChanged && raw.listMs !== undefined) setTimeout(() => send(answer), raw.listMs)
  else send(answer)
  announce('after')
}

const says = (text: string): object => ({ content: [{ type: 'text', text }] })

function call({ id, params = {} }: Request): void {
  const { name = '', arguments: args = {}, _meta: meta = {} } = params
  journal(`call ${name} ${meta['escapement/key'] ?? ''}`)
  const answers: Readonly<Record<string, () => object | undefined>> = {
    echo: () => says(args.text ?? ''),
    slow: () => undefined,
    die: () => process.exit(7),
    big: () => says('x'.repeat(args.bytes ?? 0)),
    change: () => {
      hasChanged = true
      send({ method: 'notifications/tools/list_changed' })
      return says('changed')
    },
    key: () => says(JSON.stringify(meta)),
    env: () => says(`${args.name}=${process.env[args.name ?? ''] ?? ''}`),
    pid: () => says(String(process.pid)),
    gives: () => ({ content: args.content }),
    ask: () => {
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
      asked.set(`ask-${id}`, (result) => send({ id, result: says(JSON.stringify(result)) }))
      send({ id: `ask-${id}`, method: 'elicitation/create', params: { message: raw.asks, requestedSchema } })
      return undefined
    },
  }
  if (raw.hangs?.includes(name) === true) return
  const answer = Object.hasOwn(answers, name) ? answers[name] : undefined
  if (answer === undefined) return send({ id, result: says(`called ${name} with ${JSON.stringify(args)}`) })
  const result = answer()
  if (result !== undefined) send({ id, result })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line) as Request
  const { id, method, params, result: answer } = request
  if (method === undefined) return asked.get(String(id))?.(answer)
  if (method === 'initialize') {
    if (raw.start === 'hang') return
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, ...(raw.hasResources === true ? { resources: {} } : {}) },
      serverInfo: { name: 'raw', version: '1.0.0' },
      ...(raw.instructions === undefined ? {} : { instructions: raw.instructions }),
    }
    return send({ id, result })
  }
  if (method === 'tools/list') return list(request)
  if (method === 'tools/call') return call(request)
  if (method === 'notifications/cancelled') return journal(`cancelled ${params?.requestId}`)
  if (id !== undefined) send({ id, error: { code: -32_601, message: 'Method not found' } })
})
