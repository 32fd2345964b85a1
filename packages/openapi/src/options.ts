import { z } from 'zod'
import type { ToolEffects } from '../../../src/actors/tools/defineTool.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { OperationPattern } from './choices.ts'
import type { AuthByScheme } from './security.ts'

export interface OpenApiOptions {
  /** Name of the service in logs and on the page, also the prefix for a tool's name that is taken. Default: the document's title. */
  readonly name?: string
  /** The operations that become tools. Default: all. */
  readonly include?: readonly OperationPattern[]
  readonly exclude?: readonly OperationPattern[]
  /** Maximum number of operations that requests list as tools. If there are more, all are deferred, as `deferred` does. Default 64. */
  readonly maxTools?: number
  /**
   * Maximum length of a tool's argument schema, in characters of JSON: it is sent with every request of the agent. The
   * descriptions in a longer schema are shortened, and an operation that is still too long is left out. Default 100,000.
   */
  readonly maxSchemaChars?: number
  /**
   * Credentials, by the names of the document's security schemes. The values are sent to the service and shown nowhere: no log, event or
   * request of a model has them.
   */
  readonly auth?: AuthByScheme
  /**
   * Addresses instead of the document's. Calls go to the first one, and redirects may lead to the others. Needed with `auth` if the document comes
   * from another origin than the service, because its author could direct the secrets elsewhere, and if the service is called over plain `http` on
   * another machine, because that sends the secrets unencrypted.
   */
  readonly servers?: readonly (string | URL)[]
  /** Effects by pattern, the first that fits. Default: GET none, PUT idempotent, others irreversible, or idempotent if the service takes an `Idempotency-Key`. */
  readonly effects?: { readonly [pattern: string]: Exclude<ToolEffects, 'reversible'> }
  /** Calls that wait for an approval: all, those with effects (`writes`, the default), none, those of some operations, or by their arguments. */
  readonly approve?:
    | 'all'
    | 'writes'
    | 'none'
    | readonly OperationPattern[]
    | ((operation: OpenApiOperation, input: unknown) => boolean)
  readonly responses?: {
    /**
     * Fields of JSON answers that are kept, by paths such as `items.id`. A list is for the operations without effects, which read; an object
     * maps patterns to lists, the first that fits, for any operation. Default: all of it.
     */
    readonly fields?: readonly string[] | { readonly [pattern: string]: readonly string[] }
    /** Maximum bytes that are read of an answer. Default 1 MiB. */
    readonly maxBytes?: number
  }
  /** Time limit of a call in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
}

/** An operation of a document, as its tool represents it. */
export interface OpenApiOperation {
  /** Name of the tool. */
  readonly name: string
  readonly operationId?: string
  readonly method: string
  /** Path template, such as `/pets/{id}`. */
  readonly path: string
  readonly effects: Exclude<ToolEffects, 'reversible'>
}

const isFunction = (value: unknown): boolean => typeof value === 'function'
const pattern = z.union([z.string().min(1), z.instanceof(RegExp)])
const patterns = z.array(pattern)
const paths = z.array(z.string().min(1))
const effects = z.enum(['none', 'idempotent', 'irreversible'])

const optionsSchema = onlyFields({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
  include: patterns,
  exclude: patterns,
  maxTools: z.int().positive(),
  maxSchemaChars: z.int().positive(),
  // The messages must not quote a secret.
  auth: z.record(
    z.string(),
    z.union(
      [z.string().min(1), onlyFields({ username: z.string(), password: z.string() }), z.custom(isFunction)],
      'give a string, { username, password } or a function that gives a token',
    ),
  ),
  servers: z.array(z.union([z.url({ protocol: /^https?$/ }), z.instanceof(URL)])).min(1),
  effects: z.record(z.string(), effects),
  approve: z.union(
    [z.enum(['all', 'writes', 'none']), patterns, z.custom(isFunction)],
    'give "all", "writes", "none", patterns or a function',
  ),
  responses: onlyFields({
    fields: z.union([paths, z.record(z.string(), paths)]),
    maxBytes: z.int().positive(),
  }).partial(),
  timeoutMs: z.number().positive().max(2_147_483_647),
}).partial()

/** @throws RuntimeError `INVALID_OPTION` */
export function checkOptions(options: OpenApiOptions): void {
  checkedBy(optionsSchema, options, 'openApiTools')
}
