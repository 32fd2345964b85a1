import { createReadStream } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { resolve as resolvePath } from 'node:path'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { loadPeer } from '../../../src/protocol/ports/loadPeer.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'

/** A document in the form of OpenAPI 3.1, whatever its original version. */
export interface ReadDocument {
  readonly document: { readonly [key: string]: unknown }
  /** Address of the document, against which relative server addresses are resolved. */
  readonly url: URL | undefined
}

/** Maximum size of a document, in bytes. */
const maxBytes = 32 * 1024 * 1024

/** Time limit for fetching a document, in milliseconds. */
const fetchMs = 30_000

/**
 * Reads a document: an object, JSON or YAML text, or its location as a path or a `file:`, `http:` or `https:` address.
 * Rejects with `OPENAPI_INVALID`, and `PACKAGE_MISSING` without an optional package.
 */
export async function readDocument(given: object | string | URL): Promise<ReadDocument> {
  const { value, url } = await load(given)
  if (!isFields(value)) throw invalid('The document is not an object.')
  return { document: await upgraded(value), url }
}

export const invalid = (what: string, cause?: unknown): RuntimeError =>
  new RuntimeError('OPENAPI_INVALID', what, cause === undefined ? {} : { cause })

async function load(given: object | string | URL): Promise<{ value: unknown; url: URL | undefined }> {
  const url = given instanceof URL ? given : typeof given === 'string' ? addressIn(given) : undefined
  if (url !== undefined)
    return { value: await parse(await textAt(url), shown(url.href)), url: isHttp(url) ? url : undefined }
  if (typeof given === 'string') return { value: await parse(given, 'The document'), url: undefined }
  try {
    // A copy: what becomes of the original later is no matter.
    return { value: JSON.parse(JSON.stringify(given)) as unknown, url: undefined }
  } catch (thrown) {
    const what = `The document is not plain JSON: give it with its references, not with the objects in their place (${messageOf(thrown).split('\n')[0]}).`
    throw invalid(what, thrown)
  }
}

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/** Returns the address of a document. `undefined`: the text is the document itself. */
function addressIn(text: string): URL | undefined {
  if (/^\s*[{[]/.test(text) || /[\r\n]/.test(text.trim())) return undefined
  if (!/^(?:https?|file):\/\//i.test(text)) return pathToFileURL(resolvePath(text))
  const url = URL.parse(text)
  if (url === null) throw invalid(`${JSON.stringify(shown(text))} is no address of a document.`)
  return url
}

/** Returns an address without possible secrets: name and password, the query and the fragment. Pure. */
const shown = (address: string): string =>
  address.replace(/[?#].*$/s, '').replace(/^([a-z]+:\/\/)[^/]*@/i, (_, scheme: string) => scheme)

async function textAt(url: URL): Promise<string> {
  try {
    if (url.protocol === 'file:') return await textOf(createReadStream(fileURLToPath(url)))
    if (!isHttp(url)) throw new Error(`${url.protocol} is no way to get a document`)
    // `fetch` takes no such address, and its error would show the password.
    if (url.username !== '' || url.password !== '')
      throw new Error('the address holds a name or password: fetch the document, and give its text')
    const response = await fetch(url, { signal: AbortSignal.timeout(fetchMs) })
    if (response.ok) return await textOf(response.body ?? [])
    await response.body?.cancel()
    throw new Error(`the answer was ${response.status} ${response.statusText}`)
  } catch (thrown) {
    throw invalid(`The document at ${shown(url.href)} could not be read: ${messageOf(thrown)}.`, thrown)
  }
}

/** Reads text up to the maximum document size, so that an endless answer is cut off. */
async function textOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
    kept.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(kept))
}

async function parse(given: string, name: string): Promise<unknown> {
  const text = given.replace(/^\uFEFF/, '')
  try {
    if (/^\s*[{[]/.test(text)) return JSON.parse(text) as unknown
  } catch (thrown) {
    throw invalid(`${name} is not JSON: ${messageOf(thrown)}.`, thrown)
  }
  const { parse: parseYaml } = await loadPeer(() => import('yaml'), 'An OpenAPI document in YAML', 'yaml')
  try {
    return parseYaml(text) as unknown
  } catch (thrown) {
    throw invalid(`${name} is not YAML: ${messageOf(thrown).split('\n')[0]}.`, thrown)
  }
}

/** Returns the version that a document declares, in full: YAML parses `3.1` and `2.0` as numbers. Pure. */
function versionOf({ openapi, swagger }: { readonly [key: string]: unknown }): string {
  const given = openapi ?? swagger ?? ''
  const said = typeof given === 'string' ? given.trim() : JSON.stringify(given)
  if (openapi === undefined) return /^2(?:\.0)?$/.test(said) ? '2.0' : said
  return said === '3' ? '3.0.0' : /^3\.\d$/.test(said) ? `${said}.0` : said
}

async function upgraded(given: { readonly [key: string]: unknown }): Promise<{ readonly [key: string]: unknown }> {
  const version = versionOf(given)
  if (/^3\.[12]\./.test(version)) return given
  if (!/^(?:2\.0|3\.0\.\d+)$/.test(version)) {
    const said = version === '' ? 'neither "openapi" nor "swagger"' : JSON.stringify(version)
    throw invalid(`The document says ${said}; OpenAPI 2.0, 3.0, 3.1 and 3.2 can be read.`)
  }
  const { upgrade } = await loadPeer(
    () => import('@scalar/openapi-upgrader'),
    `An OpenAPI document of version ${version}`,
    '@scalar/openapi-upgrader',
  )
  try {
    return upgrade({ ...given, [version === '2.0' ? 'swagger' : 'openapi']: version }, '3.1')
  } catch (thrown) {
    throw invalid(`The document of version ${version} is malformed: ${messageOf(thrown)}.`, thrown)
  }
}
