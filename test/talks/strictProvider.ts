import { pictureBytes } from '../../src/protocol/text/pictureBytes.ts'
import type { AiSdkModel } from '../../src/aiSdk.ts'
import type { Dice } from '../tree/dice.ts'

export type Json = { readonly [field: string]: unknown }

/** A provider in memory that answers by dice, and refuses each request that the real one is known to refuse. */
export interface StrictProvider {
  /** The words of its refusal; `undefined` where it takes the request. */
  refuses(body: Json): string | undefined
  /** The pieces of a stream with some reply; a tame one is whole, and a text alone. */
  reply(isTame: boolean): readonly string[]
}

/** A provider's real package, connected to a strict one. */
export interface ProviderFamily {
  readonly name: string
  provider(dice: Dice): StrictProvider
  model(fetch: typeof globalThis.fetch): AiSdkModel
  /** A tool that the provider carries out itself. */
  tools(fetch: typeof globalThis.fetch): readonly object[]
}

/** The longest base64 of an image that is taken, in characters. */
const maxImageChars = 5 * 1024 * 1024

/** Finds faults of an image, by its first bytes and its size. */
export function wrongImage(data: string, mimeType: string): string | undefined {
  if (data === '') return 'image cannot be empty'
  if (data.length > maxImageChars) return 'image exceeds 5 MB maximum'
  const seen = pictureBytes(data)
  if (seen === undefined) return 'Could not process image'
  return seen.type === mimeType ? undefined : `the image was specified as ${mimeType} but appears to be ${seen.type}`
}

/** True if all its texts and names are whole: half a surrogate pair is no JSON to a provider. */
export function isWhole(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, inner]) => name.isWellFormed() && isWhole(inner))
}

/** Finds faults of the tools of a request. */
export function wrongTools(tools: readonly Json[], schemaOf: (tool: Json) => unknown): string | undefined {
  const names = new Set<unknown>()
  for (const [at, tool] of tools.entries()) {
    const { name } = tool
    if (name !== undefined && (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)))
      return `tools.${at}.name: String should match pattern`
    if (name !== undefined && names.has(name)) return `tools: Tool names must be unique: ${name}`
    names.add(name)
    const schema = schemaOf(tool)
    if (schema !== undefined && (schema as Json)['type'] !== 'object')
      return `tools.${at}.input_schema.type: is missing`
  }
  return undefined
}

const words = ['Some words.', 'More.', ' ', '\n\n', 'ends with a space ', '😀', '[n1]', '', 'a\ud83d'] as const
const inputs = ['{}', '{"a":"x"}', '{"a":5}', '{"a"', '', '[]', 'null', '"{}"', '{"a":"\\ud83d"}'] as const
const names = ['look', 'look', 'look', 'change', 'shoot', 'shoot', 'nope', 'bad.name/x'] as const

export const someText = (dice: Dice): string => dice.pick([...words, '<brake-note kind="lesson">no note</brake-note>'])!
export const someInput = (dice: Dice): string => dice.pick(inputs)!
export const someName = (dice: Dice): string => dice.pick(names)!

/** An id of a call, now and then one that was given before, an empty, an odd or a long one. */
export const someCallId = (dice: Dice, fresh: string): string =>
  dice.percent(80) ? fresh : dice.pick(['twice', 'twice', '', `odd id.${fresh}`, `${fresh}${'x'.repeat(100)}`])!
