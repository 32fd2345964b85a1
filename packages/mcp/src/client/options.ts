import { z } from 'zod'
import type { ToolEffects } from '../../../../src/actors/tools/defineTool.ts'
import { mostSchemaChars } from '../../../tools/src/foreign/withinChars.ts'
import { checkedBy, labelOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'

/** Policy for restarting a server that ended or could not be reached. */
export interface McpRestart {
  /** Maximum number of restarts within `windowMs`. After that the server counts as failed until that time has passed. Default 5. */
  readonly maxRestarts?: number
  /** Period in milliseconds in which restarts are counted. Default 60,000. */
  readonly windowMs?: number
  /** Wait before the first restart, in milliseconds; each later one waits twice as long. Default 500. */
  readonly backoffMs?: number
  /** Maximum wait before a restart, in milliseconds. Default 30,000. */
  readonly maxBackoffMs?: number
}

/** Calls that wait for an approval: all, those that may change something, none, or those for which a function returns true. */
export type McpApproval =
  | 'all'
  | 'writes'
  | 'none'
  | ((name: string, input: { readonly [name: string]: unknown }) => boolean)

type Maybe<T> = T | undefined | Promise<T | undefined>

/**
 * Signs in with OAuth: the result of `fileAuth`, or any `OAuthClientProvider` of `@modelcontextprotocol/client`,
 * which documents each member. It is declared here so that programs compile without that package.
 */
export interface McpAuth {
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: { readonly redirect_uris: readonly string[] }
  clientInformation(): Maybe<{ readonly client_id: string }>
  tokens(): Maybe<{ readonly access_token: string }>
  saveTokens(tokens: object): void | Promise<void>
  redirectToAuthorization(address: URL): void | Promise<void>
  saveCodeVerifier(verifier: string): void | Promise<void>
  codeVerifier(): string | Promise<string>
}

/** A server of the Model Context Protocol: `command` for a server that runs as a process, or `url`. */
export interface McpOptions {
  /** Name of the server in logs, in errors, on the page, and before tool names that are taken: 1 to 32 letters, digits, `_`, `-`. */
  readonly name: string
  /** Program to run, without a shell. It gets a few variables of this process, such as `PATH` and `HOME`, and those of `env`. */
  readonly command?: string
  /**
   * Arguments of the program. Values of 8 characters or more that look like secrets are kept secret: `--token=…`, the value after `--api-key`.
   * See `plain`.
   */
  readonly args?: readonly string[]
  /** Variables for the process. Values of 8 characters or more are secrets, which no log shows; see `plain`. */
  readonly env?: { readonly [name: string]: string }
  /** Working folder of the process; default that of this one. */
  readonly cwd?: string
  /** Address of a server that speaks streamable HTTP. Values of its query of 8 characters or more are secrets. */
  readonly url?: string
  /** Headers for each request to the origin of `url`, or a function that returns them each time. Values of 8 characters or more are secrets. */
  readonly headers?: { readonly [name: string]: string } | (() => Promise<{ readonly [name: string]: string }>)
  /** Names of variables, headers, query parameters and options whose values are not secret, such as a path. */
  readonly plain?: readonly string[]
  /** Signs in with OAuth: `fileAuth`, or a provider of `@modelcontextprotocol/client`. */
  readonly auth?: McpAuth
  /** Hosts on this machine or its network that a remote server may name for signing in. No other such host is contacted. */
  readonly authHosts?: readonly string[]
  /** Versions of the protocol. Default `'legacy'` (up to 2025-11-25) for a process, and `'auto'` (the server's newest) for a URL. */
  readonly protocol?: 'legacy' | 'auto' | '2026-07-28'
  /** Tools to include, by name or pattern. As in all options, the names are the server's own. */
  readonly include?: readonly (string | RegExp)[]
  readonly exclude?: readonly (string | RegExp)[]
  /** Adds the server's name before its tools' names: always, or only before a name that is taken, which is the default. */
  readonly prefix?: 'clash' | 'always'
  /** Maximum number of tools that requests list. With more they are deferred, as `deferred` does. Default 64. */
  readonly maxTools?: number
  /**
   * Maximum length of the schema of a tool's arguments, in characters of JSON, since every request of the agent contains it.
   * The descriptions of a longer one are shortened, and a tool that is still too long is left out. Default 100,000.
   */
  readonly maxSchemaChars?: number
  /** Effects of the calls, by tool; see `trust` for tools that are not listed. */
  readonly effects?: { readonly [tool: string]: ToolEffects }
  /** Default `'all'`, and with `trust` `'writes'`: those of tools that `effects`, else the server, does not call read-only. */
  readonly approve?: McpApproval
  /**
   * True to believe the server's annotations of effects: read-only is `'none'`, idempotent `'idempotent'`. Default `false`: each tool that
   * `effects` does not name is `'irreversible'`.
   */
  readonly trust?: boolean
  /** True to add the server's own instructions to the system prompt. Default `false`, since they could say anything. */
  readonly instructions?: boolean
  /** True to give the model tools that list and read the server's resources. Default `false`. */
  readonly resources?: boolean
  /** True to give the model tools that list the server's prompts and get one. Default `false`. */
  readonly prompts?: boolean
  /**
   * Keeps the apps that show results of the server's tools: their HTML is in the data of each call (`mcpApp`), for the inspector page and `McpApp` of
   * `escapement/react`. Default `false`.
   */
  readonly apps?: boolean
  /** Allows the server to ask people during a call. Default `true`. */
  readonly elicitation?: boolean
  /** Time limit for a start in milliseconds, and maximum wait of a turn for it. Default 10,000. */
  readonly connectMs?: number
  /** Time limit of a call in milliseconds; default 600,000. */
  readonly callMs?: number
  /** Maximum size of an answer, in bytes; a longer one is an error. Default 64 MiB. */
  readonly maxResultBytes?: number
  readonly restart?: McpRestart
}

/** Options of a server except its name. */
export type McpServerOptions = Omit<McpOptions, 'name'>

const texts = z.record(z.string(), z.string())
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isProvider = (value: unknown): boolean => isFunction((value as { readonly tokens?: unknown } | null)?.tokens)
const patterns = z.array(z.union([z.string(), z.instanceof(RegExp)])).readonly()
const effects = z.enum(['none', 'idempotent', 'irreversible'], 'say "none", "idempotent" or "irreversible"')
const ms = z
  .number()
  .positive()
  .max(2 ** 31 - 1)

/** Schemas of a server's options except its name. */
const serverFields = {
  command: z.string().min(1),
  args: z.array(z.string()).readonly(),
  env: texts,
  cwd: z.string().min(1),
  url: z.string().refine((url) => /^https?:/i.test(url) && URL.canParse(url), 'give an https: or http: address'),
  headers: z.union([texts, z.custom(isFunction)], 'give texts by name, or a function that resolves with them'),
  plain: z.array(z.string()).readonly(),
  auth: z.custom(isProvider, 'give fileAuth(…), or an OAuthClientProvider of @modelcontextprotocol/client'),
  authHosts: z.array(z.string()).readonly(),
  protocol: z.enum(['legacy', 'auto', '2026-07-28']),
  include: patterns,
  exclude: patterns,
  prefix: z.enum(['clash', 'always']),
  maxTools: z.int().positive().max(1_000),
  maxSchemaChars: z.int().positive(),
  effects: z.record(z.string(), effects),
  approve: z.union(
    [z.enum(['all', 'writes', 'none']), z.custom(isFunction)],
    'say "all", "writes", "none", or give a function',
  ),
  trust: z.boolean(),
  instructions: z.boolean(),
  resources: z.boolean(),
  prompts: z.boolean(),
  apps: z.boolean(),
  elicitation: z.boolean(),
  connectMs: ms,
  callMs: z.union([ms, z.literal(Infinity)]),
  maxResultBytes: z.int().positive(),
  restart: onlyFields({
    maxRestarts: z.int().min(0).max(1_000),
    windowMs: ms,
    backoffMs: ms,
    maxBackoffMs: ms,
  }).partial(),
} satisfies { readonly [K in keyof Required<McpServerOptions>]: z.ZodType }

/** Rules that span several fields. */
const rules: readonly { readonly holds: (server: McpServerOptions) => boolean; readonly message: string }[] = [
  {
    holds: ({ command, url }) => (command === undefined) !== (url === undefined),
    message: 'give command, or url',
  },
  {
    holds: ({ command, args, env, cwd }) => command !== undefined || (args ?? env ?? cwd) === undefined,
    message: 'args, env and cwd are for a command',
  },
  {
    holds: ({ url, headers, auth }) => url !== undefined || (headers ?? auth) === undefined,
    message: 'headers and auth are for a url',
  },
  {
    holds: ({ url }) => url === undefined || !hasPassword(url),
    message: 'url holds a name or password, which logs would show: give it in headers',
  },
]

function checkRules(server: unknown, { addIssue }: { addIssue(message: string): void }): void {
  for (const { holds, message } of rules) if (!holds(server as McpServerOptions)) addIssue(message)
}

const optionsSchema = lazily(() =>
  onlyFields({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'use 1 to 32 letters, digits, "_" or "-"'),
    ...serverFields,
  })
    .partial()
    .required({ name: true })
    .superRefine(checkRules),
)

/** The options of a server without its name. */
export const serverSchema = lazily(() => onlyFields(serverFields).partial().superRefine(checkRules))

const hasPassword = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

/** Options with defaults filled in. */
export type McpSettings = McpOptions &
  Required<
    Pick<
      McpOptions,
      'approve' | 'maxTools' | 'maxSchemaChars' | 'elicitation' | 'connectMs' | 'callMs' | 'maxResultBytes'
    >
  > & {
    readonly protocol: NonNullable<McpOptions['protocol']>
    readonly restart: Required<McpRestart>
  }

/** @throws RuntimeError `INVALID_OPTION` */
export function readOptions(options: McpOptions): McpSettings {
  checkedBy(optionsSchema(), options, labelOf('mcpTools', options))
  return {
    approve: options.trust === true ? 'writes' : 'all',
    protocol: options.url === undefined ? 'legacy' : 'auto',
    maxTools: 64,
    maxSchemaChars: mostSchemaChars,
    elicitation: true,
    connectMs: 10_000,
    callMs: 600_000,
    maxResultBytes: 64 * 1024 * 1024,
    ...options,
    restart: { maxRestarts: 5, windowMs: 60_000, backoffMs: 500, maxBackoffMs: 30_000, ...options.restart },
  }
}
