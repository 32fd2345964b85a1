import type { Artifact } from '../../../../../../src/protocol/artifacts/artifact.ts'
import { artifactName } from '../../../../../../src/protocol/artifacts/artifactNames.ts'
import { isTextual } from '../../../../../../src/protocol/text/fileText.ts'
import { forDisplay } from '../words/shortText.ts'
import type { BytesPort } from './readBytes.ts'

/** The functions of a browser that the page needs to show artifacts. */
export interface ArtifactPorts extends BytesPort {
  /** Opens a new tab. Returns false if the browser refuses, as too long has passed since a person asked. */
  open(blob: Blob): boolean
  /** Saves a file under a name. */
  save(blob: Blob, name: string): void
  /** Returns a URL for a picture on the page, valid until `release`. */
  address(blob: Blob): string
  release(address: string): void
}

/** Ways to show a kept result: as a picture, as text, or not at all, so that it can only be saved. */
export type ArtifactKind = 'picture' | 'text' | 'other'

/** Pictures that cannot act, and that browsers show. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** Returns true if a browser may show a picture of this type. */
export const isPicture = (mimeType: string): boolean => pictureTypes.has(mimeType)

/**
 * Returns the way to show an artifact. A new tab has the rights of the page, so only pictures that cannot act and plain text are opened in
 * one.
 */
export function artifactKind({ mimeType }: Pick<Artifact, 'mimeType'>): ArtifactKind {
  if (isPicture(mimeType)) return 'picture'
  return isTextual(mimeType) ? 'text' : 'other'
}

/** Size in bytes above which a picture is not read until a person opens it. */
const mostShownBytes = 16 * 1024 * 1024

/** Returns true if an artifact is a picture that is shown in its place. */
export const isShownInPlace = (artifact: Artifact): boolean =>
  artifactKind(artifact) === 'picture' && artifact.bytes <= mostShownBytes

const endings: Readonly<Record<string, string>> = {
  'text/plain': '.txt',
  'application/json': '.json',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/avif': '.avif',
}

/** Returns the file name for an artifact: its own name, without marks that could reverse its ending, or else the name that models know it by. */
export const fileNameOf = (artifact: Artifact): string =>
  forDisplay(artifact.name ?? `${artifactName(artifact)}${endings[artifact.mimeType] ?? ''}`)

/** Limit in bytes of the artifacts kept in memory, as rows that are scrolled away and back are drawn anew. */
const mostHeldBytes = 64 * 1024 * 1024

/** Reads the artifacts of agents from the server of the page. */
export class ArtifactReader {
  readonly ports: ArtifactPorts
  readonly #token: () => string | undefined
  readonly #held = new Map<string, Blob>()
  #heldBytes = 0

  /** `token`: the one that the page has now; it goes into a header, never into an address. */
  constructor(ports: ArtifactPorts, token: () => string | undefined) {
    this.ports = ports
    this.#token = token
  }

  /** Returns the bytes of an artifact, with a type that cannot act. Rejects with a sentence for a person, and with the reason of `signal`. */
  async read(artifact: Artifact, signal: AbortSignal): Promise<Blob> {
    const { agentId, id } = artifact
    const key = `${agentId}/${id}`
    const held = this.#held.get(key)
    if (held !== undefined) return held
    const token = this.#token()
    const path = `agents/${encodeURIComponent(agentId)}/artifacts/${id}`
    // Nothing is shown before somebody asks for it.
    const { readBytes } = await import('./readBytes.ts')
    signal.throwIfAborted()
    const blob = await readBytes(this.ports, { path, token, bytes: artifact.bytes }, signal)
    const kind = artifactKind(artifact)
    const shown =
      kind === 'picture' ? artifact.mimeType : kind === 'text' ? 'text/plain;charset=utf-8' : 'application/octet-stream'
    const typed = blob.slice(0, blob.size, shown)
    if (this.#token() === token) this.#hold(key, typed)
    return typed
  }

  /** Forgets everything that was read: another token may not have the right to read it. */
  forget(): void {
    this.#held.clear()
    this.#heldBytes = 0
  }

  #hold(key: string, blob: Blob): void {
    if (blob.size > mostHeldBytes / 2 || this.#held.has(key)) return
    this.#held.set(key, blob)
    this.#heldBytes += blob.size
    for (const [oldest, { size }] of this.#held) {
      if (this.#heldBytes <= mostHeldBytes) return
      this.#held.delete(oldest)
      this.#heldBytes -= size
    }
  }
}
