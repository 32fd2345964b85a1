import { agentAtWork } from '../../../../agentAtWork.mjs'

export const dynamic = 'force-dynamic'

export async function GET(request) {
  return Response.json(await agentAtWork(new URL(request.url).searchParams.get('folder'), { serve: true }))
}
