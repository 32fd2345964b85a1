import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { isAgentDefinition, noDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Role } from '../../../wire/src/rights.ts'
import { roleSchema } from '../../../wire/src/rightsSchema.ts'
import { optionsCheck } from '../../../../src/protocol/checks/optionsCheck.ts'
import type { Authenticate } from './authenticator.ts'
import type { Dispatch } from './dispatch.ts'
import type { ServedDeps } from './servedDeps.ts'
import type { SharedToken, ShareOptions } from './shareLink.ts'
import { isForwardedToken, minSecretLength } from './forwarded.ts'
import { isShareToken, minShareKeyLength } from './shareTokens.ts'
import { grantSchema, minTokenLength, type Tokens } from './roles.ts'
import type { Endpoint } from './endpoint.ts'
import { bridgeLimitsSchema, type BridgeLimits } from './limits.ts'
import { belowBase, healthPath, placesOf } from './places.ts'

export interface ServeOptions {
  /** Port to listen on. Default 0: any free port. */
  readonly port?: number
  /** Address to listen on. Default `127.0.0.1`. Any other address requires `tokens` or `authenticate`. */
  readonly host?: string
  /**
   * Your own server, for example with TLS, instead of `port` and `host`: WebSockets are answered on it directly, plain requests by
   * `handle`.
   */
  readonly server?: Server | TlsServer
  /**
   * Rights by token: a role, or a grant such as `{ role, agents, metadata }` for some agents only, or `{ may:
   * ['see.all', 'approve'] }`. No token may begin with `share.`, the prefix of link tokens.
   */
  readonly tokens?: Tokens
  /**
   * Decides the rights of a client whose token is not one of `tokens`. From its request (headers, cookies) and its token it returns a
   * role or rights (`may`), the agents to reach (ids, or a function of an agent's id and metadata), and metadata: the client sees only
   * agents that have it, and the agents that it spawns get it. Give customers the role `talk`. With more, they could approve their own
   * agents' requests, read and change instructions, or begin agents. `null` rejects the client.
   *
   * @example
   * ```ts no-run
   * await runtime.serve({
   *   definitions: [coder],
   *   authenticate: (request, token) => {
   *     const userId = request.headers.cookie ?? token // of your own session
   *     return userId === undefined ? null : { role: 'talk', metadata: { userId }, owner: userId }
   *   },
   * })
   * ```
   */
  readonly authenticate?: Authenticate
  /**
   * Base path of all of the server's resources: the page, the bridge, charts, artifacts and `healthz`. It begins and ends with a slash, such as
   * `/agents/`. It is for a proxy that keeps the prefix; a proxy that strips it needs none. Default `/`.
   */
  readonly base?: string
  /** Path of the bridge's WebSockets. Default: `bridge` below `base`. */
  readonly path?: string
  /** The role of every client that reaches the server if there are neither tokens nor `authenticate`. Default `admin`, with all rights. */
  readonly role?: Role
  /** Origins of browser pages that may connect; default: the server's own. */
  readonly origins?: readonly string[]
  /** Agents that clients may spawn, and that can be loaded from their logs. */
  readonly definitions?: readonly AgentDefinition[]
  /**
   * Returns the dependencies of an agent that clients spawn, or that is loaded from its log for a client. It is called for each agent,
   * and may be async. Clients cannot see the result. If it throws, the client gets `INVALID_DEPS`. Default: none.
   */
  readonly deps?: ServedDeps
  /** Other protocols to speak, such as `acp()` and `agUi()`. Default: none. */
  readonly endpoints?: readonly Endpoint[]
  /** True to serve the inspector page at `base`. Default: yes, except on a server of your own. */
  readonly inspector?: boolean | InspectorOptions
  /**
   * The key of read-only links, and of data that MCP clients receive and send back: 32 characters or more, random, secret, and the
   * same on every server that is to recognise them. With another key all links end, and people are asked again. Default: a new one for
   * this server, so that links end with it. Data sent back is then keyed by `gatewaySecret`, if there is one.
   */
  readonly shareKey?: string
  /**
   * Secret of 32 characters or more that this server shares with gateways (`serveGateway`), which state the identity and rights of
   * their clients. Without `tokens` and `authenticate` no other clients are admitted. Default: none; gateways are refused.
   */
  readonly gatewaySecret?: string
  /**
   * Dispatches clients' commands, including those of `endpoints`, to an engine that places the agents: `restateDispatch` of
   * `escapement/restate`. Reading is unaffected. Default: commands go to the agents of this process.
   */
  readonly dispatch?: Dispatch
  /**
   * Address at which other processes, such as a gateway, reach this server: a `ws:` or `wss:` address of its bridge, announced in the store with the
   * agents of this process. `false` announces nothing. Default: the address at which it listens, or this machine's for a server on all addresses.
   */
  readonly advertise?: string | false
  readonly limits?: Partial<BridgeLimits>
}

/** Options of the inspector page. */
export interface InspectorOptions {
  /**
   * Origins of pages that may show the page in a frame, such as `https://app.example`. Without any it cannot be framed.
   * Such a page could trick a user who may drive agents into a click, so list only pages that you trust.
   */
  readonly frameAncestors?: readonly string[]
  /** Cost of an agent with its sub-agents, in US dollars, from which on the overview shows it in red. Default: 1 for agents without limits, and none for others. */
  readonly alertUsd?: number
}

export interface ShareLinkOptions extends ShareOptions {
  /** Address of the page for people who follow the link, such as `https://example.com/agents/`. Default: its address on this machine. */
  readonly page?: string
}

/** A link to the page with a read-only token. */
export interface SharedLink extends SharedToken {
  readonly url: string
}

/** A running bridge. */
export interface BridgeServer {
  /** Address for clients: `ws://127.0.0.1:port/bridge`. Empty while a server of your own does not listen on a port. */
  readonly url: string
  /** Port of the server; 0 while a server of your own does not listen on a port. */
  readonly port: number
  /** Number of connected clients, not counting unauthenticated sockets. */
  readonly connections: number
  /** Answers a plain request to your own server; `false` if its path does not belong to the bridge. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /**
   * Returns a read-only link to the page for an agent and its descendants, valid until it expires. Its token is in the fragment, which browsers do
   * not send. Rejects with `INVALID_OPTION`, also if there are neither tokens nor `authenticate`, `AGENT_NOT_FOUND`, `AGENT_INCOGNITO`.
   */
  shareLink(agentId: string, options?: ShareLinkOptions): Promise<SharedLink>
  /** Notifies clients, lets them disconnect and closes. Agents keep running. Idempotent. */
  close(): Promise<void>
}

/** Returns true for an origin as browsers write it: no path, no user name, no text that a policy could read as several origins. */
const isOrigin = (text: string): boolean => /^https?:\/\/[\w.:[\]-]+$/.test(text) && URL.parse(text)?.origin === text
export const isSocketAddress = (text: string): boolean => /^wss?:$/.test(URL.parse(text)?.protocol ?? '')
const grantsSchema = lazily(() => z.array(z.union([roleSchema(), grantSchema()])))

/** Returns true if a path occurs more than once. */
const isTwice = (paths: readonly string[]): boolean => new Set(paths).size < paths.length

/** Returns true if a path has parts such as `..`, which browsers resolve before they send a request. */
const isDotted = (path: string): boolean => path.split('/').some((part) => part === '.' || part === '..')

const isEndpoint = (value: unknown): boolean => {
  const { path, answer, connect } = (value ?? {}) as Partial<Endpoint>
  return typeof path === 'string' && path.startsWith('/') && (answer !== undefined || connect !== undefined)
}

const checkEach = optionsCheck(
  {},
  {
    port: () => z.int().min(0).max(65_535),
    host: () => z.string().min(1),
    server: () =>
      z.custom(
        (value) => typeof (value as Server | undefined)?.on === 'function',
        'give a server of node:http or node:https',
      ),
    // The message must not quote a token, which is in the path.
    tokens: () =>
      z
        .custom<Tokens>(
          (value) =>
            typeof value === 'object' &&
            value !== null &&
            Object.keys(value).every((token) => token.length >= minTokenLength),
          `a token needs at least ${minTokenLength} characters`,
        )
        .refine(
          (tokens) => !Object.keys(tokens).some((token) => isShareToken(token)),
          'a token that begins with "share." is taken for one of a read-only link, and never accepted: choose another',
        )
        .refine(
          (tokens) => !Object.keys(tokens).some((token) => isForwardedToken(token)),
          'a token that begins with "gateway." is taken for one of a gateway, and never accepted: choose another',
        )
        .refine(
          (tokens) => grantsSchema().safeParse(Object.values(tokens)).success,
          'a token is given a role, or { role or may, agents, metadata, owner }',
        ),
    role: roleSchema,
    origins: () => z.array(z.string()),
    deps: () => z.custom((value) => typeof value === 'function', 'give a function'),
    definitions: () => z.array(z.custom<AgentDefinition>(isAgentDefinition, { error: noDefinition() })),
    endpoints: () =>
      z
        .array(z.custom<Endpoint>(isEndpoint, 'give an endpoint with a path, such as what acp() returns'))
        .refine((endpoints) => !isTwice(endpoints.map(({ path }) => path)), 'two of them have the same path'),
    authenticate: () => z.custom((value) => typeof value === 'function', 'give a function'),
    path: () =>
      z
        .string()
        .regex(/^(?:\/[\w.~-]+)+$/, 'give a path such as "/agents/bridge"')
        .refine((path) => !isDotted(path), 'give a path such as "/agents/bridge"'),
    base: () =>
      z
        .string()
        .regex(/^\/(?:[\w.~-]+\/)*$/, 'give a path that begins and ends with a slash, such as "/agents/"')
        .refine((base) => !isDotted(base), 'give a path such as "/agents/"'),
    inspector: () =>
      z.union([
        z.boolean(),
        onlyFields({
          frameAncestors: z.array(z.string().refine(isOrigin, 'give an origin such as "https://app.example"')),
          alertUsd: z.number().positive(),
        }).partial(),
      ]),
    shareKey: () => z.string().min(minShareKeyLength, `a key needs at least ${minShareKeyLength} characters`),
    dispatch: () =>
      z.custom((value) => typeof value === 'object' && value !== null && 'command' in value, 'give a dispatch'),
    gatewaySecret: () => z.string().min(minSecretLength, `a secret needs at least ${minSecretLength} characters`),
    advertise: () =>
      z.union([
        z.literal(false),
        z.string().refine(isSocketAddress, 'give an address such as "ws://worker-1:4100/bridge"'),
      ]),
    limits: bridgeLimitsSchema,
  },
)

/** Returns the conflict between paths that are each valid by themselves; `undefined` if there is none. */
function wrongPath(options: ServeOptions): string | undefined {
  const { base, bridge } = placesOf(options)
  const own = belowBase(base, bridge)
  if (own !== undefined && (own === healthPath || own.startsWith('/assets/')))
    return 'path: it is a path of the server’s own'
  const paths = (options.endpoints ?? []).map((endpoint) => endpoint.path)
  const isOwn = isTwice([base, `${base.slice(0, -1)}${healthPath}`, bridge, ...new Set(paths)])
  return isOwn ? 'endpoints: one of them has a path of the server’s own' : undefined
}

/** Checks the options of `serve`. @throws RuntimeError `INVALID_OPTION` */
export function checkServeOptions(options: ServeOptions): void {
  const wrong = checkEach(options) ?? wrongPath(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `serve: ${wrong}.`)
}
