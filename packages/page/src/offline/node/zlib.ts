export { deflateSync as deflateRawSync, inflateSync as inflateRawSync } from 'fflate'
