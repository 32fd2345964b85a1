import { useEffect, useState } from 'preact/hooks'
import type { Artifact } from '../../../../../../src/protocol/artifacts/artifact.ts'
import { mcpAppIn, type McpAppData } from '../../../../../bridge/src/client/apps/mcpApp.ts'
import type { CallData } from '../../model/calls/callBook.ts'
import type { ArtifactReader } from '../../model/artifacts/artifactReader.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { AppView } from './appView.tsx'

export interface AppOfCallProps {
  readonly data: CallData
  readonly input: unknown
  readonly reader: ArtifactReader
}

/** The app of a call. An app that is too large for its record is read first. */
export function AppOfCall({ data, input, reader }: AppOfCallProps) {
  const artifact = 'apart' in data && 'artifact' in data.apart ? data.apart.artifact : undefined
  const { app, why } = useApp('json' in data ? data.json : undefined, artifact, reader)
  if (app !== undefined) return <AppView app={app} input={input} />
  return why === '' ? (
    <Skeleton label="Reading the app" />
  ) : (
    <EmptyState icon="warning" title="The app cannot be shown">
      <p role="alert">{why}</p>
    </EmptyState>
  )
}

function useApp(
  json: unknown,
  artifact: Artifact | undefined,
  reader: ArtifactReader,
): { readonly app: McpAppData | undefined; readonly why: string } {
  const [read, setRead] = useState<{ readonly app?: McpAppData; readonly why: string }>({ why: '' })
  useEffect(() => {
    if (artifact === undefined) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const take = async (): Promise<void> => {
      const app = mcpAppIn(JSON.parse(await (await reader.read(artifact, signal)).text()) as unknown)
      if (!signal.aborted) setRead(app === undefined ? { why: 'It is damaged.' } : { app, why: '' })
    }
    take().catch((thrown: unknown) => {
      if (!signal.aborted) setRead({ why: (thrown as Error).message })
    })
    return () => controller.abort()
  }, [reader, artifact?.id])
  return artifact === undefined ? { app: mcpAppIn(json), why: 'It is damaged.' } : { app: read.app, why: read.why }
}
