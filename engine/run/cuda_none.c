/* Without CUDA's headers at build time: every question to the driver, NVRTC and cuBLASLt is answered with that. */
#include "run/private.h"
#ifndef HAVE_CUDA_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char reason[] = "this vitrine was built without CUDA headers";
static bool refuse(OpError *error) { return error ? op_error(error, ERROR_RUNTIME, "%s", reason) : false; }

int cuda_device_count(Runtime *runtime) { (void)runtime; return 0; }
bool cuda_available(Runtime *runtime, const char **why_not) { (void)runtime; if (why_not) *why_not = reason; return false; }
bool nvrtc_available(Runtime *runtime, const char **why_not) { return cuda_available(runtime, why_not); }
const char *cuda_arch(Runtime *runtime) { return runtime->arch ? runtime->arch : "sm_90a"; }
void cuda_close(Runtime *runtime) { (void)runtime; }
bool cuda_ready(Runtime *runtime) { (void)runtime; return false; }
bool cuda_enter(Runtime *runtime, int index, OpError *error) { (void)runtime, (void)index; return refuse(error); }
Pool *cuda_pool(Runtime *runtime, int index) { (void)runtime, (void)index; return NULL; }
bool cuda_copy(Runtime *runtime, void *dst, Device dst_device, const void *src, Device src_device, int64_t bytes, OpError *error) {
    (void)runtime, (void)dst, (void)dst_device, (void)src, (void)src_device, (void)bytes;
    return refuse(error);
}
bool cuda_copy_async(Runtime *runtime, void *dst, const void *src, int64_t bytes, void *stream, OpError *error) {
    (void)runtime, (void)dst, (void)src, (void)bytes, (void)stream;
    return refuse(error);
}
bool cuda_fill(Runtime *runtime, int index, void *dst, int byte, int64_t bytes) { (void)runtime, (void)index, (void)dst, (void)byte, (void)bytes; return false; }
bool cuda_synchronize(Runtime *runtime, int index, OpError *error) { (void)runtime, (void)index; return refuse(error); }
bool cuda_facts(Runtime *runtime, int index, DeviceFacts *facts) { (void)runtime, (void)index, (void)facts; return false; }
bool cuda_module_load(Runtime *runtime, int index, const void *cubin, void **module, OpError *error) {
    (void)runtime, (void)index, (void)cubin, (void)module;
    return refuse(error);
}
void cuda_module_unload(Runtime *runtime, int index, void *module) { (void)runtime, (void)index, (void)module; }
bool cuda_module_function(Runtime *runtime, void *module, const char *symbol, void **function, OpError *error) {
    (void)runtime, (void)module, (void)symbol, (void)function;
    return refuse(error);
}
bool cuda_prepare(Runtime *runtime, const CudaLaunch *launch, OpError *error) { (void)runtime, (void)launch; return refuse(error); }
bool cuda_launch(Runtime *runtime, const CudaLaunch *launch, void *stream, OpError *error) { (void)runtime, (void)launch, (void)stream; return refuse(error); }
int cuda_driver_version(Runtime *runtime) { (void)runtime; return 0; }
bool cuda_event_new(Runtime *runtime, void **event, OpError *error) { (void)runtime, (void)event; return refuse(error); }
void cuda_event_free(Runtime *runtime, void *event) { (void)runtime, (void)event; }
bool cuda_event_record(Runtime *runtime, void *event, void *stream, OpError *error) { (void)runtime, (void)event, (void)stream; return refuse(error); }
bool cuda_event_us(Runtime *runtime, void *start, void *stop, double *us, OpError *error) { (void)runtime, (void)start, (void)stop, (void)us; return refuse(error); }
bool cuda_vector_copy(Runtime *runtime, int index, void *dst, const void *src, int64_t bytes, OpError *error) {
    (void)runtime, (void)index, (void)dst, (void)src, (void)bytes;
    return refuse(error);
}
bool cuda_strided_copy(Runtime *runtime, int index, void *dst, const Meta *dst_meta, const void *src, const Meta *src_meta, void *stream, OpError *error) {
    (void)runtime, (void)index, (void)dst, (void)dst_meta, (void)src, (void)src_meta, (void)stream;
    return refuse(error);
}
bool nvrtc_compile_unit(Runtime *runtime, const char *source, const char *arch, bool cubin, bool verbose, CompilerOutput *output) {
    (void)runtime, (void)source, (void)arch, (void)cubin, (void)verbose;
    *output = (CompilerOutput){.log = strdup(reason)};
    return false;
}
const char *nvrtc_identity(Runtime *runtime) { (void)runtime; return "none"; }
void nvrtc_close(Runtime *runtime) { (void)runtime; }
bool cublaslt_matmul(Runtime *runtime, int index, const MatmulCall *call, void *a, void *b, void *out, void *bias, void *add, void *stream, OpError *error) {
    (void)runtime, (void)index, (void)call, (void)a, (void)b, (void)out, (void)bias, (void)add, (void)stream;
    return refuse(error);
}
bool cublaslt_supports(Runtime *runtime, const MatmulCall *call, const char **why_not) { (void)call; return cuda_available(runtime, why_not); }
bool cublaslt_version(Runtime *runtime, char *text, size_t room) { (void)runtime; snprintf(text, room, "%s", reason); return false; }
void cublaslt_close(Runtime *runtime) { (void)runtime; }
#endif
