import { createContext, type JSX } from 'preact'
import { useContext } from 'preact/hooks'
import { artifactName } from '../../../../../../src/protocol/artifacts/artifactNames.ts'
import type { Keeping } from '../../model/artifacts/artifactNotes.ts'
import type { ArtifactReader } from '../../model/artifacts/artifactReader.ts'
import { laterPart } from '../../parts/later.tsx'
import type { ArtifactsProps } from './artifacts.tsx'

/** Reader of artifacts for the page; `null` if they are named, but cannot be read. */
export const ArtifactsOfPage = createContext<ArtifactReader | null>(null)

const Kept = laterPart<ArtifactsProps>(
  <p class="muted">Kept whole beside the log.</p>,
  async () => (await import('./artifacts.tsx')).Artifacts,
)

/** Artifacts of a result; their code is loaded with the first one. */
export function Artifacts({
  of: { artifacts = [] },
  showsPictures = false,
}: {
  readonly of: Keeping
  readonly showsPictures?: boolean
}): JSX.Element | null {
  const reader = useContext(ArtifactsOfPage)
  return artifacts.length === 0 ? null : <Kept artifacts={artifacts} reader={reader} showsPictures={showsPictures} />
}

/** Badge of a result that keeps artifacts. */
export const ArtifactBadge = ({ of: { artifacts } }: { readonly of: Keeping }): JSX.Element | null =>
  artifacts === undefined ? null : (
    <span class="badge" title={artifacts.map(artifactName).join(', ')}>
      full result saved
    </span>
  )
