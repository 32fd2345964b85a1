/**
 * Generates docs/protocol.md and docs/protocol.schema.json from the zod schemas of the frames. `npm run docs` writes them; a test
 * keeps them up to date.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { agentCommands, type AgentCommand } from '../src/protocol/bridge/commands.ts'
import { clientFrames, serverFrames } from '../packages/wire/src/frames.ts'
import { bridgeProtocol, closeCodes, tokenProtocolPrefix } from '../packages/wire/src/bridgeProtocol.ts'
import { logRecordSchema } from '../src/protocol/records.ts'
import { commandTable } from '../packages/bridge/src/server/commandTable.ts'
import { limitsOf } from '../packages/bridge/src/server/limits.ts'
import { defaultLimit } from '../packages/bridge/src/server/listPages.ts'
import { brokenCode } from '../packages/bridge/src/server/socketGuard.ts'

interface Shape {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [name: string]: Shape }
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly pattern?: string
  readonly maxLength?: number
}

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Shape =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Shape

const optionsOf = (shape: Shape): readonly Shape[] => shape.oneOf ?? shape.anyOf ?? []

/** A type in a few words. */
function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return `\`${JSON.stringify(shape.const)}\``
  if (shape.enum !== undefined) return shape.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ')
  const options = optionsOf(shape)
  const kinds = options.flatMap((option) => option.properties?.['type']?.const ?? [])
  if (kinds.length > 1) {
    const others = options.filter((option) => option.properties?.['type']?.const === undefined).map(typeOf)
    return [
      ...others,
      `{ type: ${kinds.map((kind) => `\`${typeof kind === 'string' ? kind : JSON.stringify(kind)}\``).join(' | ')}, … }`,
    ].join(' or ')
  }
  if (options.length > 0) return [...new Set(options.map(typeOf))].join(' or ')
  if (shape.type === 'array') return `list of ${shape.items === undefined ? 'anything' : typeOf(shape.items)}`
  if (shape.type === 'object') {
    const kind = shape.properties?.['type']
    if (kind !== undefined) return `{ type: ${typeOf(kind)}, … }`
    const names = Object.keys(shape.properties ?? {})
    return names.length === 0 ? 'object' : `{ ${names.join(', ')} }`
  }
  return shape.type ?? 'anything'
}

const typeName = (shape: Shape): string => String(shape.properties?.['type']?.const)

function fieldsOf({ properties = {}, required = [] }: Shape): string {
  const fields = Object.entries(properties).filter(([name]) => name !== 'type')
  if (fields.length === 0) return 'nothing else'
  return fields.map(([name, shape]) => `\`${name}${required.includes(name) ? '' : '?'}\` ${typeOf(shape)}`).join('; ')
}

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const rightOf = (type: string): string =>
  Object.hasOwn(commandTable, type)
    ? [commandTable[type as keyof typeof commandTable].needs].flat().join(' or ')
    : 'any'

function clientTable(): string {
  const frames = optionsOf(jsonSchema(clientFrames.schema(), 'input'))
  return [
    row(['frame', 'right', 'fields']),
    row(['---', '---', '---']),
    ...frames.map((frame) => row([`\`${typeName(frame)}\``, rightOf(typeName(frame)), fieldsOf(frame)])),
  ].join('\n')
}

function serverTable(): string {
  const frames = optionsOf(jsonSchema(serverFrames.schema(), 'output'))
  return [
    row(['frame', 'fields']),
    row(['---', '---']),
    ...frames.map((frame) => row([`\`${typeName(frame)}\``, fieldsOf(frame)])),
  ].join('\n')
}

const limits = limitsOf()
const mib = (bytes: number): string => `${bytes / 1024 ** 2} MiB`
const seconds = (ms: number): string => `${ms / 1_000} s`
const page = `a page has ${defaultLimit} unless \`limit\` says otherwise`

const closings: { readonly [K in keyof typeof closeCodes]: readonly [why: string, then: string] } = {
  unauthorised: [
    `no \`hello\` as the first frame or within ${seconds(limits.helloMs)} (\`limits.helloMs\`), a wrong token, the session of somebody else, a link that has expired`,
    'do not come back with the same',
  ],
  flooded: [
    `more frames in a second than are allowed, or more than ${limits.waitingCommands} commands that wait (\`limits.waitingCommands\`)`,
    'come back, and send less',
  ],
  silent: [
    `nothing came from the client between two WebSocket pings of the server, which it sends every ${seconds(limits.pingMs)} (\`limits.pingMs\`)`,
    'come back',
  ],
  stuck: [
    `more than ${mib(limits.hardLimitBytes)} wait to be read (\`limits.hardLimitBytes\`); or the client cannot be let in for now: the server is full, \`authenticate\` failed`,
    'come back later',
  ],
  goingAway: ['the server shuts down, after `closing`; or what the token allows has changed', 'come back'],
}

const closeTable = [
  row(['code', 'why', 'what to do']),
  row(['---', '---', '---']),
  ...Object.entries(closings).map(([name, [why, then]]) =>
    row([`${closeCodes[name as keyof typeof closeCodes]} (${name})`, why, then]),
  ),
  row(['1009', 'a frame larger than `maxFrameBytes`', 'come back, and send less']),
  row([`${brokenCode}`, 'a log cannot be read; an `error` without `id` says why', 'come back later']),
].join('\n')

/** Description of the `result` of `ok`, by command; it is the same for all commands to an agent. */
const results: { readonly [T in Exclude<keyof typeof commandTable, AgentCommand['type']>]: string } = {
  'agent.spawn': '`{ agentId, seq }`',
  'agent.list': `\`{ agents, total }\`: running agents without a parent, the oldest first, each as in an \`agents\` frame; ${page}`,
  'agent.snapshot':
    'as an entry of `agents`, with `tree`, `asked` (everything that waits for people), `approvals`, `pause`, `policies?`, `sources?` and `use?`',
  'agent.conversation': '`{ head, nodes, pins, masks }`',
  'agent.subscribe': '`{ seq }`: of the newest record',
  'agent.unsubscribe': '`null`',
  'agent.fork': '`{ agentId }`',
  'agent.past': '`{ part, records, next? }`',
  'agent.share': '`{ token, expiresAt }`',
  'agent.watch': '`null`',
  'agent.unwatch': '`null`',
  'session.list': `\`{ sessions, total }\`: the one written last first; ${page}`,
  'session.search':
    '`{ hits, sessions }`: of each hit `{ agentId, seq, excerpt, rank }`, the best first, and the sessions that they are in',
  'session.spend':
    '`{ by, costUsd, requests, usage, unpriced, groups, total, unread, unreadLogs }`: of each group `{ key, agents, costUsd, requests, usage, unpriced, over? }`, the most expensive first; use without a known price is in `unpriced` alone',
  'waiting.list':
    '`{ waiting, total }`: agents, who has waited longest first, each `{ agentId, definition, title?, metadata?, isRunning, pending }`; one that does not run is woken by what is decided',
  'host.send': '`{}`, once the event is in the store and was taken',
  'host.list': '`{ hosts }`: of each `{ id, machine, version?, status, value, seq, timers, children }`',
  'host.read': '`{ host }`, as in `host.list`; with `records` also `records`: of each `{ seq, time, type, line }`',
  'worker.list': '`{ workers }`: of each `{ name, words? }`; none where the server is no gateway',
}

const resultTable = [
  row(['command', '`result`']),
  row(['---', '---']),
  row([
    'commands to an agent',
    '`{ requestId, ended? }`: `<mark>/<id>`, which the records have that it led to; the mark is the first 32 hex digits of the SHA-256 of the session id',
  ]),
  ...Object.entries(results).map(([type, result]) => row([`\`${type}\``, result])),
].join('\n')

/** The page. */
export const protocolPage = (): string => `# The bridge's protocol

How a client and \`runtime.serve\` talk to each other. \`npm run docs\` generates this page from the schemas; the same as JSON Schema, for
other languages, is [\`protocol.schema.json\`](protocol.schema.json), in the package \`escapement/protocol.schema.json\`.

There is one WebSocket, at \`/bridge\` unless the options of the server say otherwise, with the subprotocol \`${bridgeProtocol}\`. Every message is JSON
text: a frame or, from the server, also an array of frames.

- The first frame is \`hello\`; the server answers \`welcome\`, or closes. A token may also be sent with the connection request: in an
  \`Authorization: Bearer\` header, or as a second subprotocol \`${tokenProtocolPrefix}<the token in base64url>\`. A client that does so with one of
  the server's \`tokens\` is admitted however many sockets are waiting without having said hello.
- \`sessionId\` names a session to continue; leave it out to be given one. If the client has a token it is \`<name>.<mac>\`: the name has 1 to 95
  letters, digits, \`.\`, \`_\` or \`-\`, and the \`mac\` is the first 32 hex digits of HMAC-SHA256 of the name, keyed by the token (both as UTF-8). A
  client whose token changes, or that has none, sends a \`sessionKey\` of its own, a secret of 16 to 128 characters, which then is the key in
  place of the token. Without either a session is that of the owner whom \`authenticate\` names, and without one it ends with its connection.
- \`limits\` of \`welcome\` are what the server takes: bytes of a frame (${mib(limits.frameBytes)} unless its own \`limits\` say otherwise), frames in a second (${limits.framesPerSecond}) and
  subscriptions (${limits.subscriptions.toLocaleString('en')}).
- Every command carries an \`id\` made by the client and is answered by \`ok\` or \`error\` with that id. Commands to an agent are carried out in the
  order in which they arrive; behind a gateway those to different agents may overtake each other. \`ok\` is sent once the store has the command's effect, or the agent has paused because its store failed; for a run that
  has no end in the log it may be sent a second time, with \`ended\`. A frame that cannot be read is answered by an \`error\`, without \`id\` if it had
  none.
- A command that is sent again under the same id and the same \`sessionId\` (of \`hello\`) is executed once, and gets the same answer. One that left
  a record is found in the agent's log, however old, even after a server restart. One that leaves none (an \`agent.abort\` of an agent that is idle
  or paused) is remembered while a client of the session is connected and for an hour after (\`limits.sessionMs\`), for the newest 1,000 commands of
  the session, until the server restarts. A command that was refused did nothing, and is tried again.
- \`agent.subscribe\` sends the log's records from \`fromSeq\` on (1 unless given, at most the one after the newest), then \`caughtUp\`, then what
  happens next, with no gaps or repeats. The \`seq\` of an \`event\` is the cursor to resume from. Events with \`live: true\` are not in the log.
  Subscribing again to the same agent replaces the subscription.
- Deltas are sent unless \`deltas\` is \`false\`. They carry \`offset\`, their place in the text of their \`kind\`, in UTF-16 units; 0 begins that
  anew. A client that subscribes mid-reply first gets, after \`caughtUp\`, one delta of each kind with everything so far.
- A client that reads too slowly (more than ${mib(limits.highWaterBytes)} waits, \`limits.highWaterBytes\`) gets \`lagging\`, and once it has read, the records that it
  missed, from the log. Nothing is queued for it: live events and deltas of that time are left out.
- A gateway that cannot reach an agent refuses what is asked with \`AGENT_UNREACHABLE\` after ten seconds: send it again under its \`id\`, before what
  is asked of the agent after it. A client that is subscribed gets one \`error\` with the \`agentId\` and no \`id\`, and hears on once it can.
- Of sub-agents only approvals, questions and calls for clients are sent, and with \`descendants: true\` every event; in both cases live only.
  Subscribe to a sub-agent to get its records. A live event of more than 1 MiB is sent as \`events.dropped\`.
- Subscribing, \`agent.snapshot\` and \`agent.conversation\` do not load an agent that does not run: they answer from its log, and the subscription
  continues if it runs again. (The last two do load one that \`idleUnloadMs\` has unloaded.) A command loads it.
- \`agent.snapshot\` lists the agent's \`policies\`, which \`agent.brake\` asks by name: \`{ name, when, decide, keep }\`. The list is missing if the
  agent does not run and the server has no definition to wake it with.
- \`agent.past\` gives the records that a fork shares with its sources, which may be out of reach, page by page, each page of one log. \`next\` is the
  \`from\` of the page after. Parts are counted from 0, the oldest log first.
- \`agent.watch\` asks for \`agents\` frames: first all running agents, then a few times a second those that changed, and in \`gone\` those that no
  longer run.
- Closing a socket aborts nothing. An agent that was spawned with \`incognito\` ends with its session (\`limits.sessionMs\`).

## Closing

A socket that the server closes has one of these codes. A request for a connection is refused with 403 (another origin), 400 (no such subprotocol), 404
(no such path) or 503 (the server is full or shutting down).

${closeTable}

## From the client

${clientTable()}

## From the server

${serverTable()}

## Answers

${resultTable}

## A session

\`\`\`
→ {"type":"hello","token":"…"}
← {"type":"welcome","sessionId":"s1.5f0c…","role":"drive","definitions":["coder"],"limits":{…}}
→ {"type":"agent.subscribe","id":"1","agentId":"coder-x7","fromSeq":1}
← {"type":"ok","id":"1","result":{"seq":1}}
← {"type":"event","agentId":"coder-x7","seq":1,"event":{"type":"agent.created",…}}
← {"type":"caughtUp","agentId":"coder-x7","seq":1}
→ {"type":"agent.prompt","id":"2","agentId":"coder-x7","content":"Fix the failing test"}
← {"type":"event","agentId":"coder-x7","seq":2,"event":{"type":"run.start","requestId":"9e1d…/2",…}}
← {"type":"ok","id":"2","result":{"requestId":"9e1d…/2"}}
← {"type":"delta","agentId":"coder-x7","runId":"coder-x7/r0","turnIndex":0,"kind":"text","offset":0,"text":"I will"}
← {"type":"event","agentId":"coder-x7","seq":9,"event":{"type":"approval.requested","callId":"c1","key":"coder-x7/t0/tool/c1",…}}
→ {"type":"agent.decide","id":"3","agentId":"coder-x7","callId":"c1","decision":"approve"}
\`\`\`
`

/** The frames, commands and records as one JSON Schema. */
export const protocolSchema = (): string =>
  `${JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'escapement bridge protocol',
    $defs: {
      clientFrame: withoutDialect(jsonSchema(clientFrames.schema(), 'input')),
      serverFrame: withoutDialect(jsonSchema(serverFrames.schema(), 'output')),
      agentCommand: withoutDialect(jsonSchema(agentCommands.schema(), 'input')),
      logRecord: withoutDialect(jsonSchema(logRecordSchema(), 'output')),
    },
  })}\n`

function withoutDialect(shape: Shape): object {
  const { $schema: _, ...rest } = shape as { $schema?: string }
  return rest
}

if (import.meta.main) {
  const docs = join(import.meta.dirname, '..', 'docs')
  await writeFile(join(docs, 'protocol.md'), protocolPage())
  await writeFile(join(docs, 'protocol.schema.json'), protocolSchema())
}
