import { toolName } from '../../../src/actors/tools/toolName.ts'
import { mostSchemaChars } from '../../tools/src/foreign/withinChars.ts'
import type { ToolConnection, ToolSource } from '../../../src/actors/tools/toolSource.ts'
import { checkPatterns, chosen, effectsOf, matches, type OperationPattern } from './choices.ts'
import { documentSchema, read, type Document } from './documentSchema.ts'
import { fieldsOf } from './fields.ts'
import { placesIn, readOperation, type OperationPlace } from './operations.ts'
import { operationTool, type OperationPlan } from './operationTool.ts'
import { checkOptions, type OpenApiOperation, type OpenApiOptions } from './options.ts'
import { invalid, readDocument, type ReadDocument } from './readDocument.ts'
import { DocumentProblem } from './references.ts'
import { proofsFor, schemesOf, secretsIn } from './security.ts'
import { checkReceivers, serversOf } from './servers.ts'

/** The operations of a service as tools: an entry of an agent's `tools`. */
export interface OpenApiTools extends ToolSource {
  /** Operations that became tools, with their effects. */
  readonly operations: readonly OpenApiOperation[]
  /** Operations that were left out, and why: `#/paths/~1pets/get: …`. */
  readonly leftOut: readonly string[]
}

/** Maximum number of operations that requests list. */
const mostListed = 64
/** Maximum number of omitted operations named in one line. */
const maxTold = 3

/**
 * Makes tools of the operations of an OpenAPI document (2.0, 3.0, 3.1 or 3.2): an object, its text (JSON, or YAML with the optional package `yaml`), or where it
 * is (a path or an address). Versions before 3.1 need the optional package `@scalar/openapi-upgrader`. An operation that cannot be used is left out, and told of in
 * `leftOut`; only one that `include` names by itself is an error.
 *
 * @throws RuntimeError `INVALID_OPTION`, `OPENAPI_INVALID`, as rejections
 *
 * @example
 * ```ts no-run
 * import { openApiTools } from 'escapement/openapi'
 *
 * const shop = await openApiTools('https://shop.example/openapi.json', {
 *   include: ['tag:orders'],
 *   auth: { apiKey: process.env['SHOP_KEY']! },
 * })
 * const clerk = defineAgent({ name: 'clerk', model, tools: [shop] })
 * ```
 */
export async function openApiTools(
  document: object | string | URL,
  options: OpenApiOptions = {},
): Promise<OpenApiTools> {
  checkOptions(options)
  const found = await readDocument(document)
  const { plans, leftOut, name } = plansOf(found, options)
  return Object.freeze({
    source: options.name ?? toolName(name),
    secrets: secretsIn(options.auth ?? {}),
    deferAbove: options.maxTools ?? mostListed,
    operations: plans.map(({ operation, effects }) => operationOf(operation, effects)),
    leftOut,
    open: (host): ToolConnection => {
      const made = plans.map((plan) => operationTool(plan, host))
      const tools = made.map(({ tool }) => tool)
      const trouble = troubleOf(
        leftOut,
        made.flatMap(({ unchecked }) => unchecked ?? []),
      )
      const since = host.clock.now()
      let isClosed = false
      return {
        tools,
        trouble,
        ready: async () => {},
        status: () => ({ state: isClosed ? 'closed' : 'up', since, ...(trouble === undefined ? {} : { trouble }) }),
        close: async () => {
          isClosed = true
        },
      }
    },
  } satisfies OpenApiTools)
}

function troubleOf(leftOut: readonly string[], unchecked: readonly string[]): string | undefined {
  const told = [
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} operations were left out: ${first(leftOut)}`]),
    ...(unchecked.length === 0
      ? []
      : [
          `arguments of ${unchecked.length} operations are checked by the service alone, or in part: ${first(unchecked)}`,
        ]),
  ]
  return told.length === 0 ? undefined : told.join('. ')
}

const first = (texts: readonly string[]): string =>
  `${texts.slice(0, maxTold).join('; ')}${texts.length > maxTold ? '; …' : ''}`

const operationOf = (
  { name, operationId, method, path }: OperationPlace,
  effects: OpenApiOperation['effects'],
): OpenApiOperation => ({ name, ...(operationId === undefined ? {} : { operationId }), method, path, effects })

interface Plans {
  readonly plans: readonly OperationPlan[]
  readonly leftOut: readonly string[]
  readonly name: string
}

/** @throws RuntimeError `OPENAPI_INVALID` */
function plansOf(found: ReadDocument, options: OpenApiOptions): Plans {
  try {
    const document = read(documentSchema, { value: found.document, at: '#' })
    const { places: all, problems } = placesIn(document)
    if (all.length === 0 && problems.length > 0) throw unusable(problems)
    checkPatterns(all, patternsIn(options))
    const places = chosen(all, options)
    const planOf = planner(document, found.url, options)
    const leftOut = [...problems]
    const plans = places.flatMap((place): OperationPlan[] => {
      try {
        return [planOf(place)]
      } catch (thrown) {
        if (!(thrown instanceof DocumentProblem) || isNamed(place, options)) throw thrown
        leftOut.push(thrown.message)
        return []
      }
    })
    if (plans.length === 0) throw unusable(leftOut)
    return { plans, leftOut, name: document.info?.title ?? 'api' }
  } catch (thrown) {
    if (thrown instanceof DocumentProblem) throw invalid(`${thrown.message}.`, thrown)
    throw thrown
  }
}

const unusable = ([why]: readonly string[]) =>
  invalid(why === undefined ? 'The document has no operations.' : `No operation of the document can be used. ${why}.`)

/** Returns all patterns in the options. Pure. */
function patternsIn({
  include = [],
  exclude = [],
  effects = {},
  approve,
  responses,
}: OpenApiOptions): readonly OperationPattern[] {
  const fields = responses?.fields
  return [
    ...include,
    ...exclude,
    ...Object.keys(effects),
    ...(typeof approve === 'object' ? approve : []),
    ...(fields === undefined || Array.isArray(fields) ? [] : Object.keys(fields)),
  ]
}

/** True if `include` names exactly this operation. */
const isNamed = (place: OperationPlace, { include = [] }: OpenApiOptions): boolean =>
  include.some((pattern) => typeof pattern === 'string' && !/[*]|^tag:/.test(pattern) && matches(pattern, place))

/** @throws RuntimeError `OPENAPI_INVALID` */
function planner(
  document: Document,
  url: URL | undefined,
  options: OpenApiOptions,
): (place: OperationPlace) => OperationPlan {
  const { auth = {}, servers, responses = {}, timeoutMs = 60_000, maxSchemaChars = mostSchemaChars } = options
  const { maxBytes = 1024 * 1024, fields: kept } = responses
  const schemes = schemesOf(document, auth)
  return (place) => {
    const operation = readOperation(document, place)
    const addresses = serversOf(servers?.map((one) => ({ url: String(one) })) ?? operation.servers, url, place.at)
    if (servers === undefined && Object.keys(auth).length > 0) checkReceivers(addresses, url)
    const proofs = proofsFor(operation.security, schemes, auth)
    const fields = fieldsOf(document, operation, proofs.fills, maxSchemaChars)
    const effects = firstFor(options.effects ?? {}, place) ?? effectsOf(place.method, fields.keyHeader !== undefined)
    return {
      operation,
      fields,
      proofs,
      servers: addresses,
      effects,
      needsApproval: approvalOf(place, effects, options),
      answers: {
        maxBytes,
        fields: keptOf(kept, place, effects),
      },
      timeoutMs,
    }
  }
}

/** Returns the fields to keep of an answer. A list applies only to reading operations: it would leave nothing of the answer to a write. Pure. */
function keptOf(
  kept: NonNullable<OpenApiOptions['responses']>['fields'],
  place: OperationPlace,
  effects: OpenApiOperation['effects'],
): readonly string[] | undefined {
  if (isList(kept)) return effects === 'none' ? kept : undefined
  return firstFor(kept ?? {}, place)
}

const isList = (fields: unknown): fields is readonly string[] => Array.isArray(fields)

const firstFor = <T>(byPattern: { readonly [pattern: string]: T }, place: OperationPlace): T | undefined =>
  Object.entries(byPattern).find(([pattern]) => matches(pattern, place))?.[1]

function approvalOf(
  place: OperationPlace,
  effects: OpenApiOperation['effects'],
  { approve = 'writes' }: OpenApiOptions,
): OperationPlan['needsApproval'] {
  if (typeof approve === 'function') return (input) => approve(operationOf(place, effects), input)
  if (approve === 'all') return true
  if (approve === 'none') return false
  return approve === 'writes' ? effects !== 'none' : approve.some((pattern) => matches(pattern, place))
}
