import { z } from 'zod'
import { readExcerpt, wrapped } from '../../../conversation/tree/readExcerpt.ts'
import { defaultRecallLines, mostRecallLines } from '../../../conversation/brakes/recall/recall.ts'
import { artifactName, type Artifact } from '../../../protocol/artifacts/artifact.ts'
import { isTextual } from '../../../protocol/text/fileText.ts'
import { lazily } from '../../../protocol/lazily.ts'
import type { PlainBlock } from '../../../protocol/messages.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import { inSlices } from '../../timing/inSlices.ts'
import { BoundCall } from '../../tools/boundCall.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'

export const readArtifactName = 'read_artifact'

interface ReadRequest {
  readonly id: string
  readonly query?: string | undefined
  readonly lines?: number | undefined
  readonly from?: number | undefined
}

/** Reads an artifact in slices, so that timers and sockets are not kept waiting. Rejects with the model's mistake, or when aborted. */
async function read(ports: AgentPorts, request: ReadRequest, signal: AbortSignal): Promise<string | PlainBlock[]> {
  const artifact = find(ports, request.id)
  const { bytes: size, mimeType, name } = artifact
  const bytes = await ports.snapshots.get(artifact.id, artifact.agentId)
  if (bytes === undefined) throw new Error(whyGone(artifact))
  const isImage = mimeType.startsWith('image/')
  if (isImage || !isTextual(mimeType)) {
    const data = Buffer.from(bytes).toString('base64')
    if (isImage) return [{ type: 'image', data, mimeType }]
    return [{ type: 'file', data, mimeType, ...(name === undefined ? {} : { name }) }]
  }
  const text = await inSlices(wrapped(new TextDecoder().decode(bytes)), signal)
  const named = { name: artifactName(artifact), what: `${mimeType}, ${size} bytes` }
  const excerpt = await inSlices(readExcerpt(text, { ...request, ...named }), signal)
  if (excerpt.isError) throw new Error(excerpt.text)
  return excerpt.text
}

/** Returns the newest artifact of that name among the results of this agent. */
function find({ conversation }: AgentPorts, id: string): Artifact {
  const wanted = id.trim().replace(/^artifact_/, '')
  const known: string[] = []
  for (let nodeId = conversation.lastNodeId; nodeId > 0; nodeId--) {
    const message = conversation.node(nodeId)?.message
    if (message?.role !== 'toolResult') continue
    for (const artifact of message.artifacts ?? []) {
      if (wanted.length >= 8 && artifact.id.startsWith(wanted)) return artifact
      known.push(artifactName(artifact))
    }
  }
  const newest = [...new Set(known)].slice(0, 5)
  const names = newest.length === 0 ? 'There are none.' : `The newest: ${newest.join(', ')}.`
  throw new Error(`There is no artifact ${JSON.stringify(id.slice(0, 80))}. ${names}`)
}

const whyGone = (artifact: Artifact): string =>
  `${artifactName(artifact)} is no longer kept: there is room for only so much, and what was used longest ago went first. What its result shows is left. Call the tool again for the rest.`

const description = `Read what a result was too large to show. Give the "id" that the result names, such as "artifact_1a2b3c4d5e6f"; with "from", the line to begin at, or a "query" of names and words, to find the lines that hold them. "lines" limits the answer (default ${defaultRecallLines}). Of an image or a file you get the whole.`

const lines = `give 1 to ${mostRecallLines}`

/** `read_artifact`: reads the content of results that were too large to show. */
export const readArtifactTool = lazily((): Tool =>
  defineTool({
    name: readArtifactName,
    description,
    effects: 'none',
    input: z.object({
      id: z.string().min(1).max(200),
      from: z.int().min(1, 'lines are counted from 1').optional(),
      lines: z.int().min(1, lines).max(mostRecallLines, lines).optional(),
      query: z.string().max(1_000).optional(),
    }),
    // Models that must fill every field leave one of them blank.
    run: ({ query, ...rest }) => {
      const request = { ...rest, query: query === undefined || query.trim() === '' ? undefined : query }
      return new BoundCall((ports: AgentPorts, signal) => read(ports, request, signal))
    },
  }),
)
