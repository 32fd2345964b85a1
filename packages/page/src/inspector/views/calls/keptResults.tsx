/** Functions of the views for data that results keep beside the log. */
export {
  Artifacts as KeptResults,
  ArtifactBadge as KeptBadge,
  ArtifactsOfPage as KeptOfPage,
} from '../artifacts/laterArtifacts.tsx'
export type { Keeping } from '../../model/artifacts/artifactNotes.ts'
