/**
 * Generates docs/protocol.md and docs/protocol.schema.json from the zod schemas of the frames. `npm run docs` writes them; a test
 * keeps them up to date.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { agentCommandSchema } from '../src/protocol/commands.ts'
import { clientFrameSchema, serverFrameSchema } from '../src/protocol/frames.ts'
import { bridgeProtocol, closeCodes, tokenProtocolPrefix } from '../src/protocol/bridgeProtocol.ts'
import { logRecordSchema } from '../src/protocol/records.ts'
import { commandTable } from '../src/server/bridge/commandTable.ts'

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

const roleOf = (type: string): string =>
  Object.hasOwn(commandTable, type) ? commandTable[type as keyof typeof commandTable].role : 'any'

function clientTable(): string {
  const frames = optionsOf(jsonSchema(clientFrameSchema, 'input'))
  return [
    row(['frame', 'role', 'fields']),
    row(['---', '---', '---']),
    ...frames.map((frame) => row([`\`${typeName(frame)}\``, roleOf(typeName(frame)), fieldsOf(frame)])),
  ].join('\n')
}

function serverTable(): string {
  const frames = optionsOf(jsonSchema(serverFrameSchema, 'output'))
  return [
    row(['frame', 'fields']),
    row(['---', '---']),
    ...frames.map((frame) => row([`\`${typeName(frame)}\``, fieldsOf(frame)])),
  ].join('\n')
}

const codes = Object.entries(closeCodes)
  .map(([name, code]) => `${code} (${name})`)
  .join(', ')

/** The page. */
export const protocolPage = (): string => `# The bridge's protocol

How a client and \`runtime.serve\` talk to each other. \`npm run docs\` generates this page from the schemas; the same as JSON Schema, for
other languages, is [\`protocol.schema.json\`](protocol.schema.json), in the package \`escapement/protocol.schema.json\`.

There is one WebSocket at \`/bridge\`, subprotocol \`${bridgeProtocol}\`. Every message is JSON text: a frame or, from the server, also an array of
frames.

- The first frame is \`hello\`; the server answers \`welcome\`, or closes. A token may also be sent with the connection request: in an
  \`Authorization: Bearer\` header, or as a second subprotocol \`${tokenProtocolPrefix}<the token in base64url>\`. A client that does so is
  admitted however many sockets are waiting without having said hello.
- \`sessionId\` names a session to continue. If the server requires tokens it is \`<name>.<mac>\`: the name has 1 to 95 letters, digits, \`.\`, \`_\`
  or \`-\`, and the \`mac\` is the first 32 hex digits of HMAC-SHA256 of the name, keyed by the token (both as UTF-8). Leave it out to be given one.
- Every command carries an \`id\` made by the client and is answered by \`ok\` or \`error\` with that id. A command that is sent again under
  the same id and the same \`sessionId\` (of \`hello\`) is executed once, and gets the same answer. A command that left a record is found in
  the agent's log, however old, even after a server restart. One that leaves none (an \`agent.abort\` of an agent that is idle or paused) is
  remembered while a client of the session is connected and for an hour after (\`limits.sessionMs\`), for the newest 1,000 commands of the
  session, until the server restarts. A command that was refused did nothing, and is tried again. \`ok\` is sent once the store has the
  command's effect; for a run that has no end in the log it may be sent a second time, with \`ended\`. \`agent.spawn\` answers
  \`{ agentId, seq }\`.
- \`agent.subscribe\` with \`fromSeq\` sends the log's records from there on, then \`caughtUp\`, then what happens next, with no gaps or
  repeats. The \`seq\` of an \`event\` is the cursor to resume from. Events with \`live: true\` are not in the log.
- Deltas carry \`offset\`, their place in the reply. A client that subscribes mid-reply first gets one delta with everything so far.
- A client that reads too slowly gets \`lagging\`, and then what it missed from the log once it has caught up. Nothing is queued for it.
- Events of sub-agents (\`descendants\`) are sent live only; subscribe to a sub-agent to get its records. A live event of more than 1 MiB is
  sent as \`events.dropped\`. A log that cannot be read closes the socket with 1011, after an \`error\`.
- Subscribing, \`agent.snapshot\` and \`agent.conversation\` do not load the agent: if it is not running, they answer from its log, and the
  subscription continues if it runs again. A command loads it.
- \`agent.snapshot\` lists the agent's \`policies\`, which \`agent.brake\` asks by name: \`{ name, when, decide, keep }\`. The list is missing if the
  agent does not run and the server has no definition to wake it with.
- \`agent.past\` gives the records that a fork shares with its sources, which may be out of reach: \`{ part, records, next? }\`, all of one
  log, with \`next\` as the \`from\` of the page after. Parts are counted from 0, the oldest log first.
- \`agent.watch\` asks for \`agents\` frames: first all running agents, then a few times a second those that changed.
- Closing a socket aborts nothing.

Close codes: ${codes}.

## From the client

${clientTable()}

## From the server

${serverTable()}

## A session

\`\`\`
→ {"type":"hello","token":"…"}
← {"type":"welcome","sessionId":"s1.5f0c…","role":"drive","definitions":["coder"],"limits":{…}}
→ {"type":"agent.subscribe","id":"1","agentId":"coder-x7","fromSeq":1}
← {"type":"ok","id":"1","result":{"seq":1}}
← {"type":"event","agentId":"coder-x7","seq":1,"event":{"type":"agent.created",…}}
← {"type":"caughtUp","agentId":"coder-x7","seq":1}
→ {"type":"agent.prompt","id":"2","agentId":"coder-x7","content":"Fix the failing test"}
← {"type":"event","agentId":"coder-x7","seq":2,"event":{"type":"run.start","requestId":"s1.5f0c…/2",…}}
← {"type":"ok","id":"2","result":{"requestId":"s1.5f0c…/2"}}
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
      clientFrame: withoutDialect(jsonSchema(clientFrameSchema, 'input')),
      serverFrame: withoutDialect(jsonSchema(serverFrameSchema, 'output')),
      agentCommand: withoutDialect(jsonSchema(agentCommandSchema, 'input')),
      logRecord: withoutDialect(jsonSchema(logRecordSchema, 'output')),
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
