import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { z } from 'zod'
import { isAgentDefinition, type AgentDefinition } from '../../actors/agentDefinition.ts'
import { describeIssues, RuntimeError } from '../../protocol/errors.ts'
import { roleSchema, type Role } from '../../protocol/frames.ts'
import type { Authenticate } from './authenticator.ts'
import type { ServedDeps } from './servedDeps.ts'
import { grantSchema, minTokenLength, type Tokens } from './roles.ts'
import type { Endpoint } from './endpoint.ts'
import { bridgeLimitsSchema, type BridgeLimits } from './limits.ts'

export interface ServeOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default `127.0.0.1`. Any other address requires `tokens` or `authenticate`. */
  readonly host?: string
  /**
   * Your own server, for example with TLS, instead of `port` and `host`: WebSockets are answered on it directly, plain requests by
   * `handle`.
   */
  readonly server?: Server | TlsServer
  /** Who may do what, by token: a role, or `{ role, agents, metadata }` for some agents only. */
  readonly tokens?: Tokens
  /**
   * Decides what a client may do whose token is none of `tokens`: by its request (headers, cookies) and its token it gives a role, the
   * agents to reach (ids, or a function of an agent's id and metadata), and metadata: the client sees only agents that have it, and
   * those it spawns get it. `null`: it is turned away.
   *
   * @example
   * ```ts no-run
   * await runtime.serve({
   *   definitions: [coder],
   *   authenticate: (request, token) => {
   *     const userId = request.headers.cookie ?? token // of your own session
   *     return userId === undefined ? null : { role: 'admin', metadata: { userId } }
   *   },
   * })
   * ```
   */
  readonly authenticate?: Authenticate
  /** Where WebSockets of the bridge are opened. Default `/bridge`. */
  readonly path?: string
  /** What everyone may do if there are neither tokens nor `authenticate`. Default `admin`. */
  readonly role?: Role
  /** Origins of browser pages that may connect; default: the server's own. */
  readonly origins?: readonly string[]
  /** Agents that clients may spawn, and that can be loaded from their logs. */
  readonly definitions?: readonly AgentDefinition[]
  /**
   * What agents are given that clients spawn, or that are loaded from their logs because a client asked for them: called for each, and may be
   * async. No client sees it; if it throws, the client is told `INVALID_DEPS`. Default: nothing.
   */
  readonly deps?: ServedDeps
  /** Other protocols to speak, such as `acp()` and `agUi()`. Default: none. */
  readonly endpoints?: readonly Endpoint[]
  /** Serve the inspector page at `/`. Default: yes, except on a server of your own. */
  readonly inspector?: boolean
  readonly limits?: Partial<BridgeLimits>
}

/** A running bridge. */
export interface BridgeServer {
  /** Where clients connect: `ws://127.0.0.1:port/bridge`. Empty while a server of your own does not listen on a port. */
  readonly url: string
  /** 0 while a server of your own does not listen on a port. */
  readonly port: number
  /** Connected clients, not counting unauthenticated sockets. */
  readonly connections: number
  /** Answers a plain request to your own server; `false` if its path does not belong to the bridge. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Notifies clients, lets them disconnect and closes. Agents keep running. Idempotent. */
  close(): Promise<void>
}

/** Paths the server answers itself; that of the bridge unless told. */
export const bridgePath = '/bridge'
export const healthPath = '/healthz'
const grantsSchema = z.array(z.union([roleSchema, grantSchema]))

/** Whether two of these are the same. */
const isTwice = (paths: readonly string[]): boolean => new Set(paths).size < paths.length

const isEndpoint = (value: unknown): boolean => {
  const { path, answer, connect } = (value ?? {}) as Partial<Endpoint>
  return typeof path === 'string' && path.startsWith('/') && (answer !== undefined || connect !== undefined)
}

const optionsSchema = z
  .strictObject({
    port: z.int().min(0).max(65_535),
    host: z.string().min(1),
    server: z.custom(
      (value) => typeof (value as Server | undefined)?.on === 'function',
      'give a server of node:http or node:https',
    ),
    // The message must not quote a token, which is in the issue's path.
    tokens: z
      .custom<Tokens>(
        (value) =>
          typeof value === 'object' &&
          value !== null &&
          Object.keys(value).every((token) => token.length >= minTokenLength),
        `a token needs at least ${minTokenLength} characters`,
      )
      .refine(
        (tokens) => grantsSchema.safeParse(Object.values(tokens)).success,
        'a token is given a role, or { role, agents, metadata }',
      ),
    role: roleSchema,
    origins: z.array(z.string()),
    deps: z.custom((value) => typeof value === 'function', 'give a function'),
    definitions: z.array(z.custom<AgentDefinition>(isAgentDefinition, 'give what defineAgent returns')),
    endpoints: z
      .array(z.custom<Endpoint>(isEndpoint, 'give an endpoint with a path, such as what acp() returns'))
      .refine(
        (endpoints) => !isTwice([healthPath, '/', ...endpoints.map(({ path }) => path)]),
        'two of them have the same path, or one has a path of the server’s own',
      ),
    authenticate: z.custom((value) => typeof value === 'function', 'give a function'),
    path: z
      .string()
      .regex(/^(?:\/[\w.~-]+)+$/, 'give a path such as "/agents/bridge"')
      .refine((path) => path !== healthPath && !path.startsWith('/assets/'), 'it is a path of the server’s own'),
    inspector: z.boolean(),
    limits: bridgeLimitsSchema.partial(),
  })
  .partial()
  .refine(({ path = bridgePath, endpoints = [] }) => !isTwice([path, ...endpoints.map((endpoint) => endpoint.path)]), {
    path: ['endpoints'],
    message: 'two of them have the same path, or one has a path of the server’s own',
  })

/** @throws RuntimeError `INVALID_OPTION` */
export function checkServeOptions(options: ServeOptions): void {
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `serve: ${describeIssues(checked.error)}.`)
}
