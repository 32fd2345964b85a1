import { cutMiddle } from '../../../protocol/text/cutMiddle.ts'
import { recallName } from '../../../conversation/tree/stepText.ts'
import { rowsOf } from '../../../conversation/tree/readExcerpt.ts'
import { artifactName, type Artifact } from '../../../protocol/artifacts/artifact.ts'
import { messageOf } from '../../../protocol/errors.ts'
import { isMedia, mediaText, textOf, type MediaBlock, type PlainBlock } from '../../../protocol/messages.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import { inSlices } from '../../timing/inSlices.ts'
import { toOutcome, type Outcome } from '../../calls/outcome.ts'
import { clean, plainBlocks, textBlock } from '../../calls/resultContent.ts'
import { WaitedFor } from '../../tools/waitForTool.ts'
import { boundedText } from './boundedText.ts'
import type { Keeping } from './keeping.ts'
import { readArtifactName } from './readArtifactTool.ts'

/**
 * Converts the return value of a tool into the outcome that the model gets; content too large for the model is to be kept whole, if the
 * agent has artifacts.
 */
export function keptOutcome(value: unknown, maxChars: number, ports: AgentPorts): Outcome | Promise<Outcome> {
  const { artifacts } = ports.definition
  if (artifacts === null) return toOutcome(value, maxChars, ports)
  const limit = limitOf(artifacts, maxChars)
  const shown = value instanceof WaitedFor ? value.text : value
  const large = largeIn(shown, limit, artifacts.overMediaBytes)
  if (large === undefined) return toOutcome(value, maxChars, ports)
  const more = value instanceof WaitedFor ? { delivers: value.delivers } : {}
  // What cannot be kept is shown as if nothing were.
  return keepLarge(large, limit, ports).then(
    (outcome) => ({ ...outcome, ...more }),
    () => toOutcome(value, maxChars, ports),
  )
}

/** Tools that read content that is kept already. Their results are not kept again. */
const ownResults: ReadonlySet<string> = new Set([readArtifactName, recallName])

export const outcomeOfTool = (name: string): typeof keptOutcome => (ownResults.has(name) ? toOutcome : keptOutcome)

const limitOf = ({ overChars }: { readonly overChars: number | null }, maxChars: number): number =>
  Math.min(maxChars, overChars ?? maxChars)

/** Returns true if a part of a result is to be kept whole. */
export function isLarge(value: unknown, maxChars: number, { definition: { artifacts } }: AgentPorts): boolean {
  if (artifacts === null) return false
  try {
    return largeIn(value, limitOf(artifacts, maxChars), artifacts.overMediaBytes) !== undefined
  } catch {
    return false
  }
}

/** A result with parts that are too large. */
interface Large {
  /** The whole text, if it is too long. Its text blocks are not shown then. */
  readonly text: string | undefined
  readonly mimeType: string
  readonly blocks: readonly PlainBlock[]
  readonly media: ReadonlySet<PlainBlock>
}

/**
 * Returns the parts of a result that are too large; `undefined` if there are none, or if the value is not a valid
 * result, which is reported elsewhere.
 */
function largeIn(value: unknown, limit: number, overMediaBytes: number): Large | undefined {
  const blocks = plainBlocks(value)
  if (blocks === undefined) {
    if (typeof value === 'string')
      return value.length > limit ? { ...nothing, text: value, mimeType: 'text/plain' } : undefined
    const text = jsonOf(value, limit)
    return text === undefined ? undefined : { ...nothing, text, mimeType: 'application/json' }
  }
  const media = new Set(blocks.filter((block) => isMedia(block) && bytesOf(block) > overMediaBytes))
  const texts = blocks.filter(({ type }) => type === 'text')
  const chars = texts.reduce((sum, block) => sum + textOf([block]).length, 0)
  if (chars <= limit && media.size === 0) return undefined
  const text = chars > limit ? texts.map((block) => textOf([block])).join('\n') : undefined
  return { text, mimeType: 'text/plain', blocks, media }
}

const nothing = { blocks: [], media: new Set<PlainBlock>() } as const

/** Returns a value as JSON on lines that can be read one by one, if it is too long; `undefined` if it is short enough or not JSON. */
function jsonOf(value: unknown, limit: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    if ((JSON.stringify(value) ?? '').length <= limit) return undefined
    return JSON.stringify(value, undefined, 1)
  } catch {
    return undefined
  }
}

const bytesOf = (block: MediaBlock): number => ('url' in block ? 0 : Math.floor((block.data.length * 3) / 4))

async function keepLarge(large: Large, limit: number, ports: AgentPorts): Promise<Outcome> {
  const keeping: Keeping[] = []
  const content: PlainBlock[] = []
  if (large.text !== undefined) {
    const { shown, kept } = await keepText(large.text, large.mimeType, limit, ports)
    content.push(textBlock(shown), textBlock(kept.note))
    keeping.push(kept)
  }
  for (const block of large.blocks) {
    if (large.media.has(block)) {
      const kept = await keepMedia(block as Exclude<MediaBlock, { url: string }>, ports)
      if (typeof kept === 'string') content.push(textBlock(kept))
      else {
        keeping.push(kept)
        content.push(textBlock(kept.note))
      }
    } else if (block.type !== 'text' || large.text === undefined) content.push(block)
  }
  return { isError: false, content: clean(ports, content), keeping }
}

const maxBytesOf = ({ definition, snapshots }: AgentPorts): number =>
  Math.min(definition.artifacts!.maxBytes, snapshots.maxFileBytes)

/** Characters reserved for the note about the artifact. */
const noteRoom = 250

async function keepText(
  given: string,
  mimeType: string,
  limit: number,
  ports: AgentPorts,
): Promise<{ readonly shown: string; readonly kept: Keeping }> {
  const maxBytes = maxBytesOf(ports)
  const { text, lost } = await fitting(given, maxBytes, ports)
  const bytes = new TextEncoder().encode(text)
  const artifact = { ...(await artifactOf(bytes, mimeType, ports)), ...(lost === 0 ? {} : { lost }) }
  const missing = lost === 0 ? 'all of it is' : `all but ${lost} characters in its middle are`
  const note = `[${artifactName(artifact)}: ${missing} kept, ${await inSlices(rowsOf(text))} lines. ${readArtifactName} reads on, by lines or by words.]`
  return { shown: cutMiddle(text, Math.max(100, limit - noteRoom)), kept: { artifact, bytes, note } }
}

/** Shortens a text to `maxBytes`. A character may take several bytes, so fewer characters may be kept. */
async function fitting(given: string, maxBytes: number, { redactor }: AgentPorts): ReturnType<typeof boundedText> {
  let bounded = await boundedText(given, maxBytes, redactor)
  const size = Buffer.byteLength(bounded.text)
  if (size <= maxBytes) return bounded
  const chars = Math.floor((bounded.text.length * maxBytes) / size)
  bounded = await boundedText(given, Math.max(0, chars - 100), redactor)
  // Where the ends have wider characters than the middle had.
  return Buffer.byteLength(bounded.text) <= maxBytes ? bounded : boundedText(given, Math.floor(maxBytes / 4), redactor)
}

/** Returns the image or file to be kept, or a text that says why it is not kept. */
async function keepMedia(block: Exclude<MediaBlock, { url: string }>, ports: AgentPorts): Promise<Keeping | string> {
  const { data, mimeType, name } = { name: undefined, ...clean(ports, block) }
  const bytes = Buffer.from(data, 'base64')
  const what = `${mediaText(block).slice(1, -1)}, ${bytes.length} bytes`
  const maxBytes = maxBytesOf(ports)
  if (bytes.length > maxBytes) return `[${what}: too large to show or to keep, as more than ${maxBytes} bytes]`
  const artifact = { ...(await artifactOf(bytes, mimeType, ports)), ...(name === undefined ? {} : { name }) }
  const note = `[${artifactName(artifact)}: ${what}, kept. ${readArtifactName} shows it.]`
  return { artifact, bytes, note }
}

async function artifactOf(
  bytes: Uint8Array<ArrayBuffer>,
  mimeType: string,
  { agentId }: AgentPorts,
): Promise<Artifact> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return { id: Buffer.from(hash).toString('hex'), agentId, bytes: bytes.length, mimeType }
}

/**
 * Returns the outcome once its artifacts are kept. Artifacts of a result that a hook replaced or withheld are not kept at all. When the
 * store fails, the model is told that there is no more than it is shown.
 */
export async function keepAll<R extends Outcome>(
  outcome: R,
  { snapshots, redactor }: AgentPorts,
): Promise<Omit<R, 'keeping'>> {
  const { keeping = [], ...result } = outcome
  if (result.hook !== undefined) return result
  const artifacts: Artifact[] = []
  let { content } = result
  for (const { artifact, bytes, note } of keeping) {
    try {
      await snapshots.put(bytes)
      artifacts.push(artifact)
    } catch (thrown) {
      const why = clean({ redactor }, messageOf(thrown)).replace(/[.]$/, '')
      const told = clean({ redactor }, note)
      content = content.map((block) =>
        block.type === 'text' && block.text === told ? textBlock(`[It could not be kept: ${why}.]`) : block,
      )
    }
  }
  return { ...result, content, ...(artifacts.length === 0 ? {} : { artifacts }) }
}
