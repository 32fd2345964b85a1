import type { Redaction } from '../../../src/actors/tools/defineTool.ts'
import { pictureType, type SaidBlock } from '../../../src/protocol/text/saidContent.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'
import { withoutEnd } from '../../../src/protocol/text/textEnds.ts'

/** Rules for the part of an answer that a model gets. */
export interface AnswerRules {
  /** Maximum bytes that are read of an answer. */
  readonly maxBytes: number
  /** Fields to keep of a JSON answer, by paths such as `items.id`. `undefined`: all. */
  readonly fields: readonly string[] | undefined
  /** Removes the beginning of a secret at the end of cut text: half a secret would not be recognised. */
  readonly redact: Redaction | undefined
}

/** Maximum length of an error text, in UTF-16 units. */
const maxError = 4_000

/** Returns a successful answer as the result of a tool. */
export async function resultOf(response: Response, rules: AnswerRules): Promise<unknown> {
  const { bytes, isCut } = await bytesOf(response, rules.maxBytes)
  const type = typeOf(response)
  if (bytes.length === 0) return emptyText(response)
  if (isText(type)) {
    const text = decoderOf(response).decode(bytes)
    if (isCut)
      return `${beginning(text, rules)}\n[… the answer is longer than ${rules.maxBytes} bytes, and was cut off here: ask for less …]`
    return isJson(type) || type === '' ? shaped(text, rules.fields) : text
  }
  if (isCut) return `[an answer of type ${type}, longer than ${rules.maxBytes} bytes: it is not shown]`
  return [blockOf(bytes, type, nameOf(response))]
}

/** Converts a failed answer to an error for the model; `operation` is the operation that was called. */
export async function errorOf(
  response: Response,
  operation: string,
  { pauseMs, redact }: { readonly pauseMs: number | undefined; readonly redact: Redaction | undefined },
): Promise<Error> {
  const { bytes, isCut } = await bytesOf(response, maxError * 4)
  const whole = isText(typeOf(response)) ? new TextDecoder().decode(bytes).trim() : ''
  const text = isCut || whole.length > maxError ? `${beginning(whole.slice(0, maxError - 1), { redact })}…` : whole
  const status = `${response.status} ${response.statusText}`.trim()
  const wait = pauseMs === undefined ? '' : ` It asks to be left alone for ${Math.ceil(pauseMs / 1_000)} s.`
  return new Error(`${operation}: ${status}.${wait}${text === '' ? '' : `\n${text}`}`)
}

/** Returns text that was cut off, perhaps in the middle of a character, without secrets. */
function beginning(text: string, { redact }: Pick<AnswerRules, 'redact'>): string {
  const whole = withoutEnd(text, '\uFFFD')
  return redact === undefined ? whole : (redact.stream().push(whole)?.text ?? '')
}

const typeOf = (response: Response): string =>
  (response.headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Returns a decoder for the encoding that the answer names; UTF-8 if it names none or an unknown one. */
function decoderOf(response: Response): InstanceType<typeof TextDecoder> {
  const [, name = 'utf-8'] = /charset="?([\w.:-]+)/i.exec(response.headers.get('content-type') ?? '') ?? []
  try {
    return new TextDecoder(name)
  } catch {
    return new TextDecoder()
  }
}

const isJson = (type: string): boolean => /^(?:application|text)\/(?:[\w.+-]*\+)?json$/.test(type)

const isText = (type: string): boolean =>
  type === '' ||
  isJson(type) ||
  type.startsWith('text/') ||
  /^application\/(?:[\w.+-]*\+)?(?:xml|yaml|javascript|x-ndjson|x-www-form-urlencoded)$/.test(type)

function emptyText(response: Response): string {
  const location = response.headers.get('location')
  const status = `${response.status} ${response.statusText}`.trim()
  return location === null ? `${status} (no content)` : `${status} (no content), location: ${location}`
}

/** Reads at most `maxBytes`. The rest is never taken from the service. */
async function bytesOf(response: Response, maxBytes: number): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (response.body === null) return { bytes: new Uint8Array(), isCut: false }
  for await (const chunk of response.body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  const whole = new Uint8Array(Buffer.concat(chunks))
  return { bytes: whole.subarray(0, maxBytes), isCut: size > maxBytes }
}

const nameOf = (response: Response): string | undefined =>
  /filename="?([^";]+)"?/i.exec(response.headers.get('content-disposition') ?? '')?.[1]

/** Returns the block that shows bytes to a model, as text for other types: providers refuse a whole request for a type that they do not know. */
function blockOf(bytes: Uint8Array, mimeType: string, name: string | undefined): SaidBlock {
  const picture = pictureType(mimeType)
  if (picture !== undefined) return { type: 'image', data: bytes, mimeType: picture }
  if (mimeType.startsWith('audio/') || mimeType === 'application/pdf')
    return { type: 'file', data: bytes, mimeType, ...(name === undefined ? {} : { name }) }
  const what = [name, mimeType, `${bytes.length} bytes`].filter((part) => part !== undefined).join(', ')
  return { type: 'text', text: `[a file: ${what}; it cannot be shown]` }
}

function shaped(text: string, fields: readonly string[] | undefined): unknown {
  let value: unknown
  try {
    value = JSON.parse(text, wholeNumber)
  } catch {
    return text
  }
  return fields === undefined
    ? value
    : pick(
        value,
        fields.map((field) => field.split('.')),
      )
}

/** Keeps the digits of a whole number that JavaScript cannot represent: a rounded id would be another one. */
const wholeNumber = (_: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? source
    : value

/** Keeps only the values that the paths name; lists are walked through. Pure. */
function pick(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.some((path) => path.length === 0)) return value
  if (Array.isArray(value)) return value.map((item: unknown) => pick(item, paths))
  if (!isFields(value)) return undefined
  const kept: Record<string, unknown> = {}
  for (const name of new Set(paths.map(([first]) => first!))) {
    if (!Object.hasOwn(value, name)) continue
    const inner = pick(
      value[name],
      paths.filter(([first]) => first === name).map((path) => path.slice(1)),
    )
    if (inner !== undefined) kept[name] = inner
  }
  return kept
}
