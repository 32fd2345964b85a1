import { withinChars } from '../../tools/src/foreign/withinChars.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { soundSchema } from '../../schemas/src/soundSchema.ts'
import type { MediaType, Parameter } from './documentSchema.ts'
import type { ReadOperation } from './operations.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'
import { below, DocumentProblem, resolve } from './references.ts'
import { SchemaCopy } from './schemas.ts'
import { withWideText } from './wholeNumbers.ts'

/** An argument of a tool that is a parameter of its operation. */
export interface Field {
  /** Name of the field, as the model sees it. */
  readonly key: string
  readonly parameter: Parameter
}

/** The content of a request, in one of the types that the operation accepts. */
export interface BodyForm {
  readonly contentType: string
  readonly media: MediaType
  /** Names of the form's parts that are files. */
  readonly files: ReadonlySet<string>
}

/** The arguments of an operation's tool. */
export interface Fields {
  /** Schema as shown to models. */
  readonly schema: JsonSchema
  /** Schema as in the document, which checks the arguments. */
  readonly checked: JsonSchema
  readonly parameters: readonly Field[]
  readonly body: BodyForm | undefined
  /** Header for the key by which the service recognises repeated calls. */
  readonly keyHeader: string | undefined
}

/** Name of the argument for the request's content. */
export const bodyKey = 'body'

/** Headers that OpenAPI sets by other means than parameters. */
const otherwise: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

const isKeyHeader = ({ in: place, name }: Parameter): boolean =>
  place === 'header' && /^(?:x-)?idempotency-key$/i.test(name)

/**
 * Returns the fields that a model fills in to call an operation: its parameters, and its content as `body`. `isGiven`: the parameter is filled
 * in by `auth`. `maxChars`: limit for the schema as JSON.
 *
 * @throws DocumentProblem
 */
export function fieldsOf(
  document: unknown,
  { method, parameters, body: given, at }: ReadOperation,
  isGiven: (parameter: Parameter) => boolean,
  maxChars: number,
): Fields {
  const copy = new SchemaCopy(document)
  const isWithout = method === 'GET' || method === 'HEAD'
  if (isWithout && given?.required === true)
    throw new DocumentProblem(given.at, `a ${method} with content cannot be sent`)
  const body = isWithout ? undefined : given
  const taken = new Set(body === undefined ? [] : [bodyKey])
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  const fields: Field[] = []
  for (const parameter of parameters) {
    const { name, in: place, at: parameterAt } = parameter
    if (isGiven(parameter) || isKeyHeader(parameter) || (place === 'header' && otherwise.has(name.toLowerCase())))
      continue
    const key = freeKey(name, place, taken)
    const schema = withDigits(copy.of(schemaOf(parameter), below(parameterAt, 'schema')))
    properties[key] = described(schema, parameter.description)
    if (parameter.required === true || place === 'path') required.push(key)
    fields.push({ key, parameter })
  }
  const form = body === undefined ? undefined : formOf(document, body.content, body.at)
  let { definitions } = copy
  if (form !== undefined) {
    let schema = copy.of(bodySchema(form), below(body!.at, 'content', form.contentType, 'schema'))
    if (isJson(form.contentType)) ({ body: schema, definitions } = withWideText(schema, definitions, properties))
    properties[bodyKey] = described(schema, [body!.description, noteOn(form)].filter(Boolean).join(' '))
    if (body!.required === true) required.push(bodyKey)
  }
  const checked: JsonSchema = {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
  const schema = withinChars(soundSchema(checked).schema, maxChars)
  const size = JSON.stringify(schema).length
  if (size > maxChars)
    throw new DocumentProblem(
      at,
      `its arguments need a schema of ${size} characters, more than "maxSchemaChars" (${maxChars})`,
    )
  return { schema, checked, parameters: fields, body: form, keyHeader: parameters.find(isKeyHeader)?.name }
}

const schemaOf = ({ schema, content }: Parameter): unknown => schema ?? Object.values(content ?? {})[0]?.schema ?? {}

/** Allows large whole numbers as text, in which no digit is lost. Answers have them in this form. */
const withDigits = (schema: JsonSchema | boolean): JsonSchema | boolean =>
  typeof schema !== 'boolean' && schema['type'] === 'integer' && schema['format'] === 'int64'
    ? { ...schema, type: ['integer', 'string'] }
    : schema

/** Adds a parameter's description, which takes precedence over its schema's. */
function described(schema: JsonSchema | boolean, description: string | undefined): JsonSchema | boolean {
  if (description === undefined || description === '') return schema
  return typeof schema === 'boolean' ? { description } : { ...schema, description }
}

/** Returns an argument name that providers accept and that is not taken. */
function freeKey(name: string, place: string, taken: Set<string>): string {
  const plain =
    name
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
      .replaceAll(/^_+|(?<!_)_+$/g, '')
      .slice(0, 56) || place
  let key = plain
  for (let n = 1; taken.has(key); n += 1) key = n === 1 ? `${plain}_${place}` : `${plain}_${place}_${n}`
  taken.add(key)
  return key
}

/** True if a content type is JSON, or any type. */
export const isJson = (type: string): boolean => /^application\/(?:[\w.+-]*\+)?json\b|^\*\/\*$/i.test(type)
/** True for a list of single changes (RFC 6902), which documents offer beside the changed fields, with an object's schema. */
const isJsonPatch = (type: string): boolean => /\bjson-patch\+json\b/i.test(type)
const readable: readonly ((type: string) => boolean)[] = [
  (type) => isJson(type) && !isJsonPatch(type),
  isJson,
  (type) => /^application\/x-www-form-urlencoded\b/i.test(type),
  (type) => /^multipart\/form-data\b/i.test(type),
]
const preferred = [...readable, (type: string) => /^text\//i.test(type), () => true]

/** Returns the operation's content type that models handle best. @throws DocumentProblem */
function formOf(document: unknown, content: { readonly [type: string]: MediaType }, at: string): BodyForm {
  const types = Object.keys(content)
  for (const isIt of preferred) {
    const type = types.find((one) => isIt(one))
    if (type === undefined) continue
    const media = content[type]!
    return { contentType: type === '*/*' ? 'application/json' : type, media, files: filesIn(document, media, at) }
  }
  throw new DocumentProblem(at, 'the content of the request has no type')
}

/** Maximum depth of the search for files, because schemas may contain themselves. */
const maxDepth = 8

/** Returns the parts that are bytes by their schema. @throws DocumentProblem */
function filesIn(document: unknown, { schema }: MediaType, at: string): ReadonlySet<string> {
  const resolved = (value: unknown) => {
    const part = resolve(document, { value, at }).value
    return isFields(part) ? part : {}
  }
  const choices = ({ allOf, anyOf, oneOf }: { readonly [key: string]: unknown }): readonly unknown[] =>
    [allOf, anyOf, oneOf].flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
  const isFile = (given: unknown, depth: number): boolean => {
    const part = resolved(given)
    if (part['format'] === 'binary' || part['contentMediaType'] !== undefined) return true
    // Base64 without a type is text that the service itself decodes.
    if (part['contentEncoding'] !== undefined && part['contentEncoding'] !== 'base64') return true
    return depth < maxDepth && [...choices(part), part['items']].some((inner) => isFile(inner, depth + 1))
  }
  const namesIn = (given: unknown, depth: number): readonly string[] => {
    const { properties, ...whole } = resolved(given)
    const own = isFields(properties) ? Object.keys(properties).filter((name) => isFile(properties[name], 0)) : []
    return depth < maxDepth ? [...own, ...choices(whole).flatMap((inner) => namesIn(inner, depth + 1))] : own
  }
  return new Set(namesIn(schema, 0))
}

/** True if a body is bytes or text rather than an object. */
export const isPlain = ({ contentType }: BodyForm): boolean => readable.every((isIt) => !isIt(contentType))

const bodySchema = (form: BodyForm): unknown => (isPlain(form) ? { type: 'string' } : (form.media.schema ?? {}))

function noteOn(form: BodyForm): string {
  if (isPlain(form) && !form.contentType.startsWith('text/'))
    return `The content (${form.contentType}), as text or as a data URL: data:<type>;base64,<data>.`
  if (/\bmerge-patch\+json\b/i.test(form.contentType))
    return 'Only the fields that change; one that is null is removed.'
  return form.contentType.startsWith('multipart/')
    ? 'Files are given as text, or as data URLs: data:<type>;name=<file name>;base64,<data>.'
    : ''
}
