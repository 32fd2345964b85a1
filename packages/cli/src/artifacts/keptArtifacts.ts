import { once } from 'node:events'
import { counted } from '../../../charts/src/amounts.ts'
import { oneLine, withoutControls } from '../../../charts/src/plainText.ts'
import { artifactName, type Artifact } from '../../../../src/protocol/artifacts/artifact.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { isTextual } from '../../../../src/protocol/text/fileText.ts'
import { formatNodeId } from '../../../../src/protocol/ids.ts'
import type { LoadedSession } from '../../../sessions/src/loadSession.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { writeNew } from '../sessions/newFile.ts'
import { refuse, wantsJson, type SessionLogs } from '../sessions/sessionLogs.ts'

/** An artifact that a result in the session names, with the position of that result. */
export interface KeptArtifact extends Artifact {
  /** Id of the result's node, such as `n12`. */
  readonly node: string
  readonly tool: string
}

/** Returns the artifacts of a session's results in order. An artifact in several results is listed with each. */
export const keptArtifacts = ({ conversation }: Pick<LoadedSession, 'conversation'>): KeptArtifact[] =>
  conversation
    .log()
    .flatMap(({ id, message }) =>
      message.role === 'toolResult'
        ? (message.artifacts ?? []).map((kept) => ({ ...kept, node: formatNodeId(id), tool: message.toolName }))
        : [],
    )

/** Returns a line for each artifact. */
export const artifactLines = (kept: readonly KeptArtifact[]): string[] =>
  kept.map((artifact) => {
    const { bytes, mimeType, node, tool, name, lost } = artifact
    const facts = [
      oneLine(mimeType),
      counted(bytes, 'byte'),
      ...(name === undefined ? [] : [oneLine(name)]),
      ...(lost === undefined ? [] : [`without ${counted(lost, 'character')} of its middle`]),
      `${oneLine(tool)} ${node}`,
    ]
    return `${artifactName(artifact)}  ${facts.join(' · ')}`
  })

/**
 * Finds an artifact by the name known to models, by the first digits of its SHA-256, or by its file name.
 *
 * @throws RuntimeError `INVALID_OPTION` if the session has no such artifact, or several.
 */
export function findArtifact(kept: readonly KeptArtifact[], wanted: string, sessionId: string): KeptArtifact {
  const digits = wanted
    .trim()
    .toLowerCase()
    .replace(/^artifact_/, '')
  const isDigits = /^[0-9a-f]{1,64}$/.test(digits)
  const named = kept.filter(({ name }) => name !== undefined && name === wanted)
  const found = named.length > 0 ? named : kept.filter(({ id }) => isDigits && id.startsWith(digits))
  // The same bytes may be kept of several results.
  const different = new Map(found.map((artifact) => [artifact.id, artifact]))
  const [one] = different.values()
  if (one !== undefined && different.size === 1) return one
  const list = (some: Iterable<KeptArtifact>): string => {
    const names = [...new Set([...some].map(artifactName))]
    const more = names.length - 5
    return names.slice(-5).join(', ') + (more > 0 ? ` and ${more} more` : '')
  }
  const refused = (why: string): RuntimeError => new RuntimeError('INVALID_OPTION', why)
  const what = `--artifact ${JSON.stringify(wanted.slice(0, 80))}`
  if (different.size > 1)
    throw refused(`${what} may be any of these: ${list(different.values())}. Give more of its digits.`)
  if (kept.length === 0) throw refused(`No result of session "${sessionId}" keeps an artifact.`)
  throw refused(`${what} is none of session "${sessionId}". The newest: ${list(kept)}.`)
}

/** Writes an artifact to `--out`, or unchanged to standard output. To a terminal only text is written, without control characters. */
export async function writeArtifact(
  artifact: KeptArtifact,
  { store }: SessionLogs,
  invocation: Invocation,
  host: CliHost,
): Promise<number> {
  const { out, json } = invocation
  const { stdout } = host
  const { id, agentId, mimeType } = artifact
  const name = artifactName(artifact)
  if (out === undefined && json)
    throw new RuntimeError(
      'INVALID_OPTION',
      '--artifact writes the artifact itself: leave --json out, or give --out too.',
    )
  const bytes = await store.snapshots?.get(agentId, id)
  if (bytes === undefined)
    return refuse(
      host,
      `${name} is no longer kept: there is room for only so much, and what was used longest ago went first.`,
    )
  if (out !== undefined) {
    await writeNew(out, [bytes])
    const written = { ...artifact, file: out }
    stdout.write(
      wantsJson(invocation, host)
        ? `${JSON.stringify(written)}\n`
        : `${name} is in ${out}: ${counted(bytes.length, 'byte')}.\n`,
    )
    return exitCodes.done
  }
  if (!stdout.isTTY) {
    if (!stdout.write(bytes)) await once(stdout, 'drain')
    return exitCodes.done
  }
  if (!isTextual(mimeType))
    return refuse(host, `${name} is ${oneLine(mimeType)}, which is not for a terminal: give --out <file>, or pipe it.`)
  const text = withoutControls(new TextDecoder().decode(bytes))
  stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  return exitCodes.done
}
