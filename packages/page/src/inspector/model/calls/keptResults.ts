/** The door of the page to what results keep beside the log. */
export {
  ArtifactReader as KeptReader,
  isPicture,
  type ArtifactPorts as FilePorts,
} from '../artifacts/artifactReader.ts'
export { keptData, keptIn } from '../artifacts/namedArtifacts.ts'
export { artifactNotes as keptNotes, readArtifactName as readKeptName } from '../artifacts/artifactNotes.ts'
