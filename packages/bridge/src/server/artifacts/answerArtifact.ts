import type { IncomingMessage, ServerResponse } from 'node:http'
import { artifactName } from '../../../../../src/protocol/artifacts/artifact.ts'
import { errorInfo, RuntimeError } from '../../../../../src/protocol/errors.ts'
import { answerJson, idOf, statusOf } from '../agentCharts.ts'
import type { AgentAccess } from '../agentAccess.ts'
import { keptArtifact } from './keptArtifact.ts'

const place = /^\/agents\/([^/]+)\/artifacts\/([0-9a-f]{64})$/

/** Returns true if a path belongs to an artifact of an agent: `/agents/<id>/artifacts/<sha256>`. */
export const isArtifactPath = (path: string): boolean => place.test(path)

/** Answers with the bytes of an artifact as a download: a tool may return anything, and a browser must not run it. */
export async function answerArtifact(
  request: IncomingMessage,
  response: ServerResponse,
  access: AgentAccess,
  path: string,
): Promise<void> {
  const [, agent = '', id = ''] = place.exec(path) ?? []
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD, OPTIONS')
    return answerJson(response, 405, errorInfo('BRIDGE_FRAME', `Request an artifact with GET, not ${request.method}.`))
  }
  try {
    const artifact = await keptArtifact(access, idOf(agent), id)
    if (artifact === undefined) {
      const what = `There is no ${artifactName({ id })} of this agent, or it is no longer kept.`
      return answerJson(response, 404, errorInfo('AGENT_NOT_FOUND', what))
    }
    const { mimeType, content, name = artifactName(artifact) } = artifact
    response.writeHead(200, {
      'content-type': /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, '_')}`,
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    response.end(content)
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown
    answerJson(response, statusOf[thrown.code] ?? 500, access.outward(thrown))
  }
}
