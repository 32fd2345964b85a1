/** Functions of the page for data that results keep beside the log. */
export {
  ArtifactReader as KeptReader,
  isPicture,
  type ArtifactPorts as FilePorts,
} from '../artifacts/artifactReader.ts'
export { keptData, keptIn } from '../artifacts/namedArtifacts.ts'
export { artifactNotes as keptNotes, readArtifactName as readKeptName } from '../artifacts/artifactNotes.ts'
