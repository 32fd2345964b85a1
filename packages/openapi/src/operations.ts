import { toolName } from '../../../src/actors/tools/toolName.ts'
import {
  operationSchema,
  parameterSchema,
  pathItemSchema,
  read,
  requestBodySchema,
  type Document,
  type Operation,
  type Parameter,
  type RequestBody,
  type Requirement,
  type Server,
} from './documentSchema.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'
import { below, DocumentProblem, resolve, type Part } from './references.ts'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const
export type Method = Uppercase<(typeof methods)[number]>

/** Path, method and names of an operation. */
export interface OperationPlace {
  /** Name of the tool, as a model sees it. */
  readonly name: string
  readonly operationId: string | undefined
  readonly method: Method
  /** Path template, such as `/pets/{id}`. */
  readonly path: string
  readonly tags: readonly string[]
  readonly at: string
}

/** An operation with everything it refers to. */
export interface ReadOperation extends OperationPlace {
  readonly operation: Operation
  readonly parameters: readonly (Parameter & { readonly at: string })[]
  readonly body: (RequestBody & { readonly at: string }) | undefined
  readonly servers: readonly Server[]
  readonly security: readonly Requirement[]
}

/** The operations of a document, and the problems of paths that could not be read. */
interface Places {
  readonly places: readonly OperationPlace[]
  readonly problems: readonly string[]
}

/** Returns all operations of a document, in its order, each with a unique name. Pure. */
export function placesIn(document: Document): Places {
  const taken = new Set<string>()
  const problems: string[] = []
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith('x-'))
  const places = paths.flatMap(([path, item]) => {
    const found = partAt(document, { value: item, at: below('#/paths', path) }, problems)
    if (found === undefined) return []
    const operations = found.value
    return methods.flatMap((method): OperationPlace[] => {
      if (!Object.hasOwn(operations, method)) return []
      const at = below(found.at, method)
      // One that cannot be followed is told of when the operation is read.
      const { value } = partAt(document, { value: operations[method], at }, []) ?? { value: {} }
      const { operationId, tags } = value as Operation
      const id = typeof operationId === 'string' ? operationId : undefined
      return [
        {
          name: freeName(id ?? `${method}_${wordsOf(path)}`, taken),
          operationId: id,
          method: method.toUpperCase() as Method,
          path,
          tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
          at,
        },
      ]
    })
  })
  return { places, problems }
}

/** Returns the object that a part is or refers to. */
function partAt(document: Document, given: Part, problems: string[]) {
  try {
    const { value, at } = resolve(document, given)
    return isFields(value) ? { value, at } : undefined
  } catch (thrown) {
    if (!(thrown instanceof DocumentProblem)) throw thrown
    problems.push(thrown.message)
    return undefined
  }
}

const wordsOf = (path: string): string => path.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '') || 'root'

function freeName(wanted: string, taken: Set<string>): string {
  let name = toolName(wanted)
  for (let n = 2; taken.has(name); n += 1) name = toolName(`${wanted}_${n}`)
  taken.add(name)
  return name
}

/** Reads an operation. @throws DocumentProblem */
export function readOperation(document: Document, place: OperationPlace): ReadOperation {
  const { path, method } = place
  const pathAt = below('#/paths', path)
  const itemPart = resolve(document, { value: document.paths[path], at: pathAt })
  const item = read(pathItemSchema, itemPart)
  const part = resolve(document, { value: item[method.toLowerCase()], at: place.at })
  const { at } = part
  const operation = read(operationSchema, part)
  const own = (operation.parameters ?? []).map((value, index) => ({ value, at: below(at, 'parameters', index) }))
  const shared = (item.parameters ?? []).map((value, index) => ({ value, at: below(itemPart.at, 'parameters', index) }))
  const parameters = new Map<string, Parameter & { readonly at: string }>()
  // The operation's own come later, and in place of those of its path.
  for (const one of [...shared, ...own]) {
    const resolved = resolve(document, one)
    const parameter = { ...read(parameterSchema, resolved), at: resolved.at }
    parameters.set(`${parameter.in} ${parameter.name}`, parameter)
  }
  const body =
    operation.requestBody === undefined
      ? undefined
      : resolve(document, { value: operation.requestBody, at: below(at, 'requestBody') })
  const found: ReadOperation = {
    ...place,
    operation,
    parameters: [...parameters.values()],
    body: body === undefined ? undefined : { ...read(requestBodySchema, body), at: body.at },
    servers: firstOf(operation.servers, item.servers, document.servers),
    security: operation.security ?? document.security ?? [],
  }
  checkPath(found)
  return found
}

const firstOf = (...lists: readonly (readonly Server[] | undefined)[]): readonly Server[] =>
  lists.find((list) => list !== undefined && list.length > 0) ?? [{ url: '/' }]

/** Checks that every name in the path template has a parameter. @throws DocumentProblem */
function checkPath({ path, parameters, at }: ReadOperation): void {
  const given = new Set(parameters.flatMap((one) => (one.in === 'path' ? [one.name] : [])))
  for (const [, name = ''] of path.matchAll(/\{([^{}]*)\}/g))
    if (!given.has(name)) throw new DocumentProblem(at, `there is no parameter for {${name}} of ${path}`)
}
