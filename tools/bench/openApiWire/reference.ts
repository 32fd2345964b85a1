import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { type Json, listOf, objectOf } from './reading.ts'

/** Host of a service whose document names none. */
export const host = 'service.example'

const pick = (value: Json, ...fields: readonly string[]): Json =>
  Object.fromEntries(fields.flatMap((field) => (field in value ? [[field, value[field]]] : [])))

interface Built {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: unknown
}

/** Request that another client would send. */
export interface Wanted {
  readonly url: URL
  readonly headers: Headers
  readonly body: unknown
}

interface Place {
  readonly path: string
  readonly document: Json
  /** The type of content that was sent. */
  readonly type: string
}

export interface Reference {
  request(operation: Json, at: Place, input: Json): Wanted
  /** Objects as forms have them elsewhere: names in brackets. */
  nested(value: Json): string
}

/** The client of Swagger UI, and the package `qs`, from a folder in which both are installed. */
export function referenceIn(folder: string): Reference {
  const load = createRequire(resolve(folder, 'package.json'))
  const client = load('swagger-client') as { buildRequest(options: object): Built }
  const qs = load('qs') as { stringify(value: Json, options: object): string }
  return {
    nested: (value) => qs.stringify(value, { arrayFormat: 'brackets', skipNulls: true }),
    request(operation, { path, document, type }, input) {
      const isOld = 'swagger' in document
      // It takes what follows a path for a part of it, and then fills in no parameters.
      const [plain = '', fixed = ''] = path.replace(/#.*$/, '').split('?')
      const spec = {
        ...(isOld
          ? {
              swagger: '2.0',
              host: document['host'] ?? host,
              ...pick(document, 'basePath', 'consumes'),
              schemes: ['https'],
            }
          : { openapi: document['openapi'], servers: operation['servers'] ?? document['servers'] }),
        info: {},
        paths: { [plain]: { post: { ...operation, operationId: 'it' } } },
      }
      const { body } = input
      const types = Object.keys(objectOf(objectOf(operation['requestBody'])['content']))
      const {
        url,
        headers,
        body: sent,
      } = client.buildRequest({
        spec,
        operationId: 'it',
        parameters: parametersOf(operation, input),
        requestBody: filesIn(body),
        requestContentType: isOld ? undefined : (types.find((one) => one.split(';')[0] === type) ?? types[0]),
      })
      const address = new URL(url, `https://${host}`)
      address.search = [fixed, address.search.slice(1)].filter(Boolean).join('&')
      return { url: address, headers: new Headers(headers), body: sent }
    },
  }
}

/** Its parameters by name, of the arguments of a tool. */
function parametersOf(operation: Json, input: Json): Json {
  const { body } = input
  const fields = objectOf(body)
  const entries = listOf(operation['parameters'])
    .map(objectOf)
    .flatMap(({ name, in: place }): [string, unknown][] => {
      const key = `${String(place)}.${String(name)}`
      if (place === 'body') return body === undefined ? [] : [[String(name), body]]
      if (place === 'formData') return String(name) in fields ? [[key, fileOr(fields[String(name)])]] : []
      const plain = argumentOf(String(name), String(place), input)
      return plain === undefined ? [] : [[key, input[plain]]]
    })
  return Object.fromEntries(entries)
}

/** The argument of a tool that is a parameter. */
export function argumentOf(name: string, place: string, input: Json): string | undefined {
  const plain =
    name
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, 56) || place
  return [`${plain}_${place}`, plain].find((key) => key in input)
}

const dataUrl = /^data:([^;,]+);base64,(.*)$/s

function fileOr(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fileOr)
  const [, type, data] = typeof value === 'string' ? (dataUrl.exec(value) ?? []) : []
  return data === undefined ? value : new Blob([Buffer.from(data, 'base64')], { type: type ?? '' })
}

const filesIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && !Array.isArray(body)
    ? Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fileOr(value)]))
    : body
